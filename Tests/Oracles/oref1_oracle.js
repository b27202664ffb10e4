// Draws inputs of a decision, asks oref0 (https://github.com/openaps/oref0, MIT) for its answers, and writes both down for Islet's tests.
//
//     node Tests/Oracles/oref1_oracle.js CHECKOUT ROWS SEED > recording.txt
//     node Tests/Oracles/oref1_oracle.js CHECKOUT ROWS SEED --keep 2350 > Tests/Oracles/recordings/oref1.txt
//     node Tests/Oracles/oref1_oracle.js CHECKOUT --answer INPUTS > recording.txt
//
// CHECKOUT is a clone of oref0 at v0.7.1; Debian's node-lodash, node-moment and node-moment-timezone are what it needs. `--keep` draws all rows and
// keeps so many, each way through the decision among them; the head then has the hash of all that they stand for, and the share of the oracle's lines
// that the draws reached. `--answer` asks about the inputs of a file
// instead, such as the steps of a closed loop that a test has written down. Nothing of oref0 is copied: it is run.

'use strict';
const path = require('path');
const crypto = require('crypto');
const inspector = require('inspector');
const answers = process.argv[3] === '--answer';
const [checkout, count, seed] = [path.resolve(process.argv[2]), answers ? 0 : +process.argv[3], answers ? 0 : +process.argv[4]];
const keepAt = process.argv.indexOf('--keep');
const keep = keepAt > 0 ? +process.argv[keepAt + 1] : Infinity;
process.env.NODE_PATH = '/usr/share/nodejs';
require('module').Module._initPaths();
const silent = () => true;
console.error = silent;
const session = new inspector.Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
const decide = require(path.join(checkout, 'lib/determine-basal/determine-basal.js'));
const temps = require(path.join(checkout, 'lib/basal-set-temp.js'));

// A small generator of numbers (mulberry32), so that a seed means the same rows everywhere.
let state = seed >>> 0;
function uniform() {
  state = (state + 0x6D2B79F5) >>> 0;
  let t = state;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const between = (a, b) => a + (b - a) * uniform();
const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
const chance = p => uniform() < p;
const pick = list => list[Math.floor(uniform() * list.length)];
const round = (x, digits) => Math.round(x * 10 ** digits) / 10 ** digits;

// The published curve, in its closed form.
function curve(td, tp) {
  const tau = tp * (1 - tp / td) / (1 - 2 * tp / td), a = 2 * tau / td;
  const S = 1 / (1 - a + (1 + a) * Math.exp(-td / tau));
  return {
    acts: t => t <= 0 || t >= td ? 0 : S / (tau * tau) * t * (1 - t / td) * Math.exp(-t / tau),
    left: t => t <= 0 ? 1 : t >= td ? 0
      : 1 - S * (1 - a) * ((t * t / (tau * td * (1 - a)) - t / tau - 1) * Math.exp(-t / tau) + 1),
  };
}

function draw() {
  const r = {};
  r.glucose = chance(0.01) ? pick([5, 10, 38, 39, 401]) : Math.round(Math.min(401, Math.max(39, pick([85, 110, 150, 190]) + 30 * normal())));
  const trend = chance(0.05) ? 0 : 4 * normal();
  r.delta = round(trend + 1.5 * normal(), chance(0.6) ? 0 : 2);
  r.short = round(trend + normal(), 2);
  r.long = round(0.7 * trend + 1.5 * normal(), 2);
  if (chance(0.01)) { r.delta = 0; r.short = round(between(-1.1, 1.1), 2); r.long = round(between(-1.1, 1.1), 2); }
  if (chance(0.02)) { r.glucose = Math.round(between(75, 95)); r.delta = r.short = round(between(0.1, 2), 2); r.long = round(between(-4, 0), 2); r.slow = 1; }
  if (chance(0.03)) { r.delta = Math.round(between(15, 60)); r.short = round(r.delta * between(0.5, 1), 2); }
  r.old = chance(0.02) ? round(between(-8, 20), 1) : round(between(0, 6), 1);
  r.basal = chance(0.8) ? round(between(0.1, 2.5), 2) : round(between(0.05, 12), 2);
  r.sens = round(between(12, 150), chance(0.7) ? 0 : 2);
  r.cr = round(between(3, 25), chance(0.7) ? 0 : 1);
  r.low = pick([80, 90, 95, 100, 100, 105, 110, 120]);
  r.high = r.low + pick([0, 0, 0, 10, 20]);
  // Insulin: some doses of the last hours, and of lower or higher rates.
  const c = pick([curve(300, 55), curve(360, 75), curve(420, 75)]);
  const doses = [];
  const n = chance(0.5) ? 0 : Math.floor(uniform() * 4);
  for (let i = 0; i < n; i++) doses.push([between(0.05, 1) * between(0.05, 1) * 120 / r.sens, Math.round(between(0, 240))]);
  if (r.slow) { doses.length = 0; doses.push([between(-0.5, 0.6) * 20 / r.sens, Math.round(between(60, 200))]); }
  else if (chance(0.6)) { const net = r.basal * pick([-1, -1, -0.5, 0.3, 1]); for (let i = 0; i < 12 * between(0.2, 3); i++) doses.push([net / 12, 5 * i + 2.5]); }
  r.iob = round(doses.reduce((s, [u, t]) => s + u * c.left(t), 0), 3);
  r.activity = []; r.zero = [];
  for (let k = 0; k < 48; k++) {
    let a = 0, z = 0;
    for (const [u, t] of doses) a += u * c.acts(t + 5 * k);
    for (let i = 0; i < k; i++) z -= r.basal / 12 * c.acts(5 * (k - i) - 2.5);
    r.activity.push(Math.round(a * 1e4)); r.zero.push(Math.round((a + z) * 1e4));
  }
  r.since = chance(0.3) ? round(between(0, 5), 1) : Math.round(between(5, 600));
  const running = pick(r.slow ? ['none', 'basal', 'basal'] : ['none', 'zero', 'basal', 'any', 'any']);
  r.minutes = running === 'none' ? 0 : chance(0.1) ? Math.round(between(31, 200)) : Math.round(between(1, 30));
  if (r.slow && chance(0.5)) r.minutes = 20;
  r.rate = running === 'none' || running === 'zero' ? 0
    : running === 'basal' ? Math.round(r.basal * 20) / 20 : Math.round(between(0, 4 * r.basal) * 20) / 20;
  r.carbs = chance(0.5) ? Math.round(between(2, 140)) : 0;
  r.cob = r.carbs && chance(0.8) ? Math.round(Math.min(120, r.carbs * uniform())) : 0;
  r.carbAge = Math.round(between(0, 359));
  r.fromMax = chance(0.3) ? 0 : round(-Math.abs(1.5 * normal()), 3);
  r.fromMin = chance(0.1) ? 999 : chance(0.3) ? 0 : round(Math.abs(1.5 * normal()), 3);
  r.ratio = chance(0.5) ? round(between(0.7, 1.2), 2) : 0;
  r.raises = chance(0.5) ? 1 : 0;
  r.lowers = chance(0.5) ? 1 : 0;
  r.maxIOB = chance(0.2) ? round(between(0, 1), 1) : round(between(1, 20), 1);
  r.maxRate = round(r.basal * between(1, 6), 2);
  r.uam = chance(0.7) ? 1 : 0;
  r.smbMinutes = pick([30, 30, 45, 60, 90, 120]);
  r.uamMinutes = pick([30, 30, 60]);
  r.increment = pick([0.1, 0.1, 0.05, 0.5]);
  // Which setting lets small boluses come, and by what.
  const kind = pick(['always', 'always', 'always', 'off', 'cob', 'carbs', 'lowTarget', 'highTarget', 'highGlucose', 'none', 'exercise', 'exercise', 'wizard']);
  const p = {};
  if (kind === 'always' || kind === 'off' || kind === 'highTarget' || kind === 'wizard') p.enableSMB_always = true;
  if (kind === 'cob') p.enableSMB_with_COB = true;
  if (kind === 'carbs') p.enableSMB_after_carbs = true;
  if (kind === 'lowTarget') { p.enableSMB_with_temptarget = true; p.temptargetSet = true; }
  if (kind === 'highTarget') p.temptargetSet = true;
  if (kind === 'highGlucose') { p.enableSMB_high_bg = true; p.enableSMB_high_bg_target = 140; }
  if (kind === 'wizard') p.A52_risk_enable = false;
  // What changes its words alone, or is its default.
  if (chance(0.1)) p.out_units = 'mmol/L';
  if (chance(0.1)) p.SMBInterval = 3;
  if (chance(0.1)) p.maxDelta_bg_threshold = 0.2;
  if (chance(0.1)) { p.remainingCarbsCap = 90; p.remainingCarbsFraction = 1; }
  r.bw = chance(0.2) ? 1 : 0;
  if (r.smbMinutes === 30 && chance(0.5)) { p.maxSMBBasalMinutes = undefined; r.uamMinutes = 30; }
  if (r.uamMinutes === 30 && chance(0.5)) p.maxUAMSMBBasalMinutes = undefined;
  if (kind === 'exercise' && chance(0.03)) { r.low = r.high = 45; }
  const target = (r.low + r.high) / 2;
  if (kind === 'exercise') {
    // A target for now that changes sensitivity: as published, half the basal at 160.
    Object.assign(p, { temptargetSet: true, exercise_mode: true, low_temptarget_lowers_sensitivity: true, autosens_max: 1.2,
      enableSMB_always: true, allowSMB_with_high_temptarget: true });
    if (chance(0.5)) p.half_basal_exercise_target = 140;
    const span = (p.half_basal_exercise_target || 160) - 100;
    r.ratio = target === 100 ? 1 : round(Math.min(1.2, span * (span + target - 100) <= 0 ? 1.2 : span / (span + target - 100)), 2);
  }
  r.smb = +{ always: true, off: false, none: false, cob: r.cob > 0, carbs: r.carbs > 0, lowTarget: target < 100,
    highTarget: target <= 100, highGlucose: r.glucose >= 140, exercise: true, wizard: false }[kind];
  // A target that was set for now is not moved by the ratio.
  if (p.temptargetSet) { r.raises = 0; r.lowers = 0; }
  // The minute of the hour counts where neutral rates are skipped.
  r.skip = chance(0.15) ? 1 : 0;
  r.minute = Math.floor(between(0, 60));
  if (r.skip && chance(0.3)) r.basal = round(r.basal, 1);
  r.known = chance(0.5) && r.minutes > 0 ? 1 : 0;
  r.clock = chance(0.05) ? 1 : 0;
  return [r, p, kind];
}

const hour = new Date(1699999200000);
let now = hour;
function ask([r, p, kind]) {
  now = new Date(hour.getTime() + r.minute * 60000);
  const iob = r.activity.map((a, k) => ({ activity: a / 1e4, iobWithZeroTemp: { activity: r.zero[k] / 1e4 } }));
  Object.assign(iob[0], { iob: r.iob, lastBolusTime: now.getTime() - r.since * 60000 });
  // The pump's history agrees with the pump.
  if (r.known) iob[0].lastTemp = { rate: r.rate, date: now.getTime() - 5 * 60000, duration: r.minutes + 5 };
  const profile = Object.assign({
    current_basal: r.basal, max_daily_basal: r.basal, max_basal: r.maxRate, sens: r.sens, carb_ratio: r.cr,
    min_bg: r.low, max_bg: r.high, max_iob: r.maxIOB, enableUAM: !!r.uam, maxSMBBasalMinutes: r.smbMinutes,
    maxUAMSMBBasalMinutes: r.uamMinutes, bolus_increment: r.increment, sensitivity_raises_target: !!r.raises, skip_neutral_temps: !!r.skip,
    resistance_lowers_target: !!r.lowers, carbsReqThreshold: 1, out_units: 'mg/dL',
  }, p);
  const status = { glucose: r.glucose, delta: r.delta, short_avgdelta: r.short, long_avgdelta: r.long, noise: 1, last_cal: r.clock ? 1 : 0, date: now.getTime() - r.old * 60000 };
  const meal = { carbs: r.carbs, mealCOB: r.cob, lastCarbTime: r.carbs ? now.getTime() - r.carbAge * 60000 : 0,
    slopeFromMaxDeviation: r.fromMax, slopeFromMinDeviation: r.fromMin, bwFound: kind === 'wizard' || !!r.bw, bwCarbs: r.bw,
    reason: r.clock ? 'Could not parse clock data' : '' };
  const stderr = process.stderr.write;
  process.stderr.write = silent;
  const autosens = kind === 'exercise' ? { ratio: 1 } : r.ratio ? { ratio: r.ratio } : undefined;
  const answer = decide(status, { rate: r.rate, duration: r.minutes }, iob, profile, autosens, meal, temps,
    kind !== 'off', undefined, now);
  process.stderr.write = stderr;
  return answer;
}

const number = x => x === undefined || x === null ? '-' : String(x);
// Runs of the same number are written once, with their length.
function runs(list) {
  const text = [];
  for (let i = 0; i < list.length;) {
    let j = i;
    while (j < list.length && list[j] === list[i]) j++;
    text.push(j - i > 1 ? `${list[i]}*${j - i}` : `${list[i]}`);
    i = j;
  }
  return text.join(',');
}
const columns = ['glucose', 'delta', 'short', 'long', 'old', 'basal', 'sens', 'cr', 'low', 'high', 'iob', 'since', 'rate', 'minutes',
  'carbs', 'cob', 'carbAge', 'fromMax', 'fromMin', 'ratio', 'raises', 'lowers', 'maxIOB', 'maxRate', 'uam', 'smb', 'smbMinutes', 'uamMinutes',
  'increment', 'skip', 'minute'];
function line(r, a) {
  const pred = a.predBGs || {};
  const at = name => pred[name] ? runs(pred[name]) : '-';
  return columns.map(name => r[name]).join(' ') + ' ' + runs(r.activity) + ' ' + runs(r.zero) + ' | ' +
    [number(a.rate), number(a.duration), number(a.units), number(a.eventualBG), number(a.insulinReq), at('IOB'), at('ZT'), at('COB'), at('UAM')].join(' ');
}
// Which way an answer went, by its own words without their numbers.
const way = a => (a.error || (a.reason || '').split('; ').slice(a.predBGs ? 1 : 0).join('; ')).replace(/[-+0-9.]+/g, '#');

if (answers) {
  const expanded = text => text.split(',').flatMap(p => { const [v, n] = p.split('*'); return Array(+(n || 1)).fill(+v); });
  process.stdout.write('# Recorded from oref0 0.7.1 (https://github.com/openaps/oref0, MIT) by Tests/Oracles/oref1_oracle.js --answer\n#\n');
  for (const text of require('fs').readFileSync(process.argv[4], 'utf8').split('\n').filter(t => t && t[0] !== '#')) {
    const f = text.split(' '), r = {};
    columns.forEach((name, i) => r[name] = f[i] === 'inf' ? 1e6 : +f[i]);
    r.activity = expanded(f[columns.length]); r.zero = expanded(f[columns.length + 1]);
    const a = ask([r, r.smb ? { enableSMB_always: true } : {}, r.smb ? 'always' : 'off']);
    process.stdout.write(line(r, a) + '\n');
  }
  process.exit(0);
}
const hash = crypto.createHash('sha256');
const all = [], ways = new Map();
for (let i = 0; i < count; i++) {
  const row = draw();
  const answer = ask(row);
  const text = line(row[0], answer);
  hash.update(text + '\n');
  const w = way(answer) + (answer.units ? ' bolus' : '');
  const seen = ways.get(w) || 0;
  ways.set(w, seen + 1);
  // The first of each way are kept, and the rest is filled up.
  all.push([text, seen < 4]);
}
function coverage() {
  const lines = { all: 0, reached: 0, missed: [] };
  session.post('Profiler.takePreciseCoverage', (_, { result }) => {
    for (const script of result.filter(s => /determine-basal\.js$|basal-set-temp\.js$|round-basal\.js$/.test(s.url))) {
      const source = require('fs').readFileSync(new URL(script.url), 'utf8');
      const missed = new Uint8Array(source.length);
      // Inner ranges stand behind outer ones.
      for (const f of script.functions) for (const range of f.ranges) missed.fill(range.count ? 0 : 1, range.startOffset, range.endOffset);
      let at = 0;
      for (const [index, text] of source.split('\n').entries()) {
        const first = at + text.search(/\S/);
        const isCode = /\S/.test(text) && !/^\s*(\/\/|\*|\/\*|\}|\{|else \{|\)|,)/.test(text);
        if (isCode) { lines.all++; if (missed[first]) lines.missed.push(path.basename(script.url) + ':' + (index + 1)); else lines.reached++; }
        at += text.length + 1;
      }
    }
  });
  return lines;
}
const reached = coverage();
if (process.argv.includes('--missed')) process.stdout.write(reached.missed.join(' ') + '\n');
const share = (100 * reached.reached / reached.all).toFixed(1);
const out = [];
const spare = Math.max(0, keep - all.filter(a => a[1]).length);
let others = 0;
const step = Math.max(1, Math.floor(count / Math.max(1, spare)));
all.forEach(([text, isFirst], i) => { if (keep === Infinity || isFirst || (i % step === 0 && others++ < spare)) out.push(text); });
process.stdout.write(`# Recorded from oref0 0.7.1 (https://github.com/openaps/oref0, MIT) by Tests/Oracles/oref1_oracle.js ${count} ${seed}\n`);
process.stdout.write(`# ${out.length} of ${count} rows, SHA-256 of all: ${hash.digest('hex')}; ${ways.size} ways; ${share} % of the oracle's lines reached\n`);
process.stdout.write(`# ${columns.join(' ')} activity zero | rate duration units eventualBG insulinReq IOB ZT COB UAM\n`);
process.stdout.write(out.join('\n') + '\n');
