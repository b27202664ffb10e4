// Draws hours of readings, meals and boluses, asks oref0 (https://github.com/openaps/oref0, MIT) what it makes of them (changes of glucose,
// carbohydrate on board, slopes of deviations, insulin on board), and writes both down for Islet's tests.
//
//     node Tests/Oracles/oref1_meals_oracle.js CHECKOUT ROWS SEED > Tests/Oracles/recordings/oref1-meals.txt
//
// CHECKOUT is a clone of oref0 at v0.7.1, with Debian's node-lodash, node-moment and node-moment-timezone. Everything stands on a grid of five minutes,
// where both count alike. Nothing of oref0 is copied: it is run.

'use strict';
const path = require('path');
const [checkout, count, seed] = [path.resolve(process.argv[2]), +process.argv[3], +process.argv[4]];
process.env.NODE_PATH = '/usr/share/nodejs';
process.env.TZ = 'UTC';
require('module').Module._initPaths();
const now = 1.7e12 - (1.7e12 % 300000);
console.error = () => true;
const stderr = process.stderr.write;
process.stderr.write = () => true;
// Its history reads the machine's clock, and from a second meal on the time of an old reading, after which it knows no boluses: it is given the time.
const history = require(path.join(checkout, 'lib/iob/history.js'));
require.cache[require.resolve(path.join(checkout, 'lib/iob/history.js'))].exports =
  (inputs, zero) => history(Object.assign({}, inputs, { clock: new Date(now).toISOString() }), zero);
const lastGlucose = require(path.join(checkout, 'lib/glucose-get-last.js'));
const recentCarbs = require(path.join(checkout, 'lib/meal/total.js'));
const insulin = require(path.join(checkout, 'lib/iob/index.js'));

// mulberry32: a seed means the same rows everywhere.
let state = seed >>> 0;
function uniform() {
  state = (state + 0x6D2B79F5) >>> 0;
  let t = state;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const between = (a, b) => a + (b - a) * uniform();
const round = (x, digits) => Math.round(x * 10 ** digits) / 10 ** digits;

process.stdout.write(`# Recorded from oref0 0.7.1 (https://github.com/openaps/oref0, MIT) by Tests/Oracles/oref1_meals_oracle.js ${count} ${seed}\n`);
process.stdout.write('# sensitivity ratio duration peak | readings, newest first | boluses U@cells | meals g@cells | delta short long carbs cob slopeFromMax slopeFromMin iob activities zeroActivities (1e-4)\n');
for (let row = 0; row < count; row++) {
  const sens = Math.round(between(15, 120)), cr = Math.round(between(4, 20));
  const peak = Math.round(between(50, 90)), dia = 5 + Math.floor(uniform() * 3);
  const n = 20 + Math.floor(uniform() * 56);
  const readings = [];
  let g = between(80, 180), slope = 0;
  for (let i = 0; i < n; i++) {
    slope = 0.85 * slope + between(-2.5, 2.5);
    g = Math.min(400, Math.max(45, g + slope));
    readings.push(Math.round(g));
  }
  const at = i => new Date(now - i * 300000).toISOString();
  // A meal and a bolus now have happened before the reading of now.
  const boluses = [], meals = [];
  for (let i = 0; i < 5; i++) if (uniform() < 0.5) boluses.push([round(between(0.1, 4), 1), Math.floor(uniform() * 90)]);
  for (let i = 0; i < 4; i++) if (uniform() < 0.5) meals.push([Math.round(between(3, 90)), 1 + Math.floor(uniform() * 70)]);
  boluses.sort((a, b) => a[1] - b[1]);
  meals.sort((a, b) => a[1] - b[1]);
  const distinct = list => list.filter((x, i) => i === 0 || x[1] !== list[i - 1][1]);
  const [B, M] = [distinct(boluses), distinct(meals)];
  const history = B.map(([u, i]) => ({ _type: 'Bolus', amount: u, timestamp: at(i) }));
  const profile = {
    dia, curve: 'rapid-acting', useCustomPeakTime: true, insulinPeakTime: peak, current_basal: 1, carb_ratio: cr, sens, maxCOB: 120,
    min_5m_carbimpact: 8, isfProfile: { sensitivities: [{ offset: 0, sensitivity: sens }] }, basalprofile: [{ minutes: 0, rate: 1, i: 0 }],
  };
  const glucose = () => readings.map((g, i) => ({ glucose: g, date: now - i * 300000, dateString: at(i), device: 'd' }));
  const status = lastGlucose(glucose());
  const copy = x => JSON.parse(JSON.stringify(x));
  const c = recentCarbs({
    treatments: M.map(([g, i]) => ({ timestamp: at(i), carbs: g, nsCarbs: g })), profile: copy(profile), pumphistory: copy(history),
    glucose: glucose(), basalprofile: profile.basalprofile,
  }, new Date(now));
  const iob = insulin({ profile: copy(profile), history: copy(history), clock: new Date(now).toISOString() });
  const ten = x => Math.round(x * 1e4);
  process.stdout.write([sens, cr, dia, peak].join(' ') + ' | ' + readings.join(',') + ' | ' + (B.map(b => b.join('@')).join(',') || '-') + ' | '
    + (M.map(m => m.join('@')).join(',') || '-') + ' | ' + [status.delta, status.short_avgdelta, status.long_avgdelta, c.carbs, c.mealCOB,
      c.slopeFromMaxDeviation, c.slopeFromMinDeviation, iob[0].iob].join(' ') + ' ' + iob.map(x => ten(x.activity)).join(',') + ' '
    + (B.length ? iob.map(x => ten(x.iobWithZeroTemp.activity)).join(',') : '-') + '\n');
}
