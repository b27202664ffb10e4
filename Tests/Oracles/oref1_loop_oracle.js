// Runs oref0 (https://github.com/openaps/oref0, MIT) as the algorithm of closed loops: a line of JSON for each step in, its answer out.
//
//     ISLET_OREF0=CHECKOUT swift test --filter Oref1BesideOref0Tests
//
// starts it with a clone of oref0 at v0.7.1; Debian's node-lodash, node-moment and node-moment-timezone are what it needs. Insulin and carbohydrate on
// board, changes of glucose and the decision are all oref0's own, from readings, boluses, and either the temporary rates that ran (of which it makes
// pulses of 0.05 U) or what the pump gave beyond its programme in each five minutes. Nothing of oref0 is copied: it is run.

'use strict';
const path = require('path');
const checkout = path.resolve(process.argv[2]);
process.env.NODE_PATH = '/usr/share/nodejs';
process.env.TZ = 'UTC';
require('module').Module._initPaths();
console.error = () => true;
process.stderr.write = () => true;
let now = 0;
// Its history reads the machine's clock, and from a second meal on the time of an old reading: it is given the time.
const history = require(path.join(checkout, 'lib/iob/history.js'));
require.cache[require.resolve(path.join(checkout, 'lib/iob/history.js'))].exports =
  (inputs, zero) => history(Object.assign({}, inputs, { clock: new Date(now).toISOString() }), zero);
// It counts an age in whole minutes. What a pump gave in five of them acts from their middle, by its curve as by ours, which is no whole minute.
const curve = require(path.join(checkout, 'lib/iob/calculate.js'));
require.cache[require.resolve(path.join(checkout, 'lib/iob/calculate.js'))].exports = (...all) => {
  const round = Math.round;
  Math.round = x => x;
  try { return curve(...all); } finally { Math.round = round; }
};
const lastGlucose = require(path.join(checkout, 'lib/glucose-get-last.js'));
const recentCarbs = require(path.join(checkout, 'lib/meal/total.js'));
const insulin = require(path.join(checkout, 'lib/iob/index.js'));
const total = require(path.join(checkout, 'lib/iob/total.js'));
const calculate = require(path.join(checkout, 'lib/iob/calculate.js'));
const decide = require(path.join(checkout, 'lib/determine-basal/determine-basal.js'));
const temps = require(path.join(checkout, 'lib/basal-set-temp.js'));

const origin = 1.7e12 - 1.7e12 % 3600000;
const time = minutes => origin + Math.round(minutes * 60) * 1000;
const text = minutes => new Date(time(minutes)).toISOString();
let readings, pump, carbs;

function step(s) {
  if (s.begin) { readings = []; pump = []; carbs = []; }
  now = time(s.now);
  const old = s.now - 24 * 60;
  readings = readings.filter(r => r.at > old);
  // Six hours of deviations look back on six hours of insulin each.
  pump = pump.filter(e => e.at > s.now - 13 * 60);
  carbs = carbs.filter(c => c.at > old);
  for (const t of s.temps) {
    pump.unshift({ at: t.at, _type: 'TempBasalDuration', 'duration (min)': t.minutes, timestamp: text(t.at) });
    pump.unshift({ at: t.at, _type: 'TempBasal', temp: 'absolute', rate: t.rate, timestamp: text(t.at) });
  }
  // What the pump gave by itself, beyond its programme: it acts as a bolus does, and is none.
  for (const f of s.flows) pump.unshift({ at: f.at, _type: 'Bolus', amount: f.units, timestamp: text(f.at), isFlow: true });
  for (const b of s.boluses) pump.unshift({ at: b.at, _type: 'Bolus', amount: b.units, timestamp: text(b.at) });
  // The newest first: it passes over what is out of order.
  pump.sort((a, b) => b.at - a.at);
  if (s.meal) carbs.unshift({ at: s.mealAt, timestamp: text(s.mealAt), carbs: s.meal, nsCarbs: s.meal });
  if (s.glucose) readings.unshift({ at: s.glucose.at, glucose: s.glucose.value, date: time(s.glucose.at), dateString: text(s.glucose.at), device: 'd' });
  if (!s.glucose || !readings.length) return {};
  const profile = () => ({
    dia: s.hours, curve: 'rapid-acting', useCustomPeakTime: true, insulinPeakTime: s.peak, current_basal: s.basal, max_daily_basal: s.basal,
    max_basal: s.maxRate, sens: s.sens, carb_ratio: s.cr, min_bg: s.target, max_bg: s.target, max_iob: s.maxIOB, maxCOB: 120, min_5m_carbimpact: 8,
    enableUAM: true, enableSMB_always: s.small, maxSMBBasalMinutes: 30, maxUAMSMBBasalMinutes: 30, bolus_increment: 0.1, carbsReqThreshold: 1,
    out_units: 'mg/dL', remainingCarbsCap: 90, remainingCarbsFraction: 1, isfProfile: { sensitivities: [{ offset: 0, sensitivity: s.sens }] },
    basalprofile: [{ minutes: 0, rate: s.basal, i: 0 }],
  });
  const copy = x => JSON.parse(JSON.stringify(x));
  const clock = new Date(now).toISOString();
  const status = lastGlucose(copy(readings));
  const meal = recentCarbs({
    treatments: copy(carbs), profile: profile(), pumphistory: copy(pump), glucose: copy(readings), basalprofile: profile().basalprofile,
  }, new Date(now));
  const iob = insulin({ profile: profile(), history: copy(pump), clock });
  // What its own history says of the running rate may differ by its pulses: it is not asked to compare.
  iob.forEach(x => delete x.lastTemp);
  const last = pump.find(e => e._type === 'Bolus' && !e.isFlow);
  if (s.flows.length) zeroFlows(s, copy(pump), iob);
  iob[0].lastBolusTime = last ? time(last.at) : 0;
  const answer = decide(status, { rate: s.rate, duration: s.minutes }, iob, profile(), undefined, meal, temps, true, undefined, new Date(now));
  return { rate: answer.rate, minutes: answer.duration, bolus: answer.units, iob: iob[0].iob, cob: meal.mealCOB };
}

// What would act if the pump gave nothing from now on, by its own sums over the same five minutes as what the pump gave: its pulses of 0.05 U are the
// only difference.
function zeroFlows(s, past, iob) {
  const treatments = past.filter(e => e._type === 'Bolus').map(e => ({ insulin: e.amount, date: time(e.at) }));
  for (let minute = 2.5; minute < 240; minute += 5) treatments.push({ insulin: -s.basal * 5 / 60, date: time(s.now + minute) });
  const profile = { dia: s.hours, curve: 'rapid-acting', useCustomPeakTime: true, insulinPeakTime: s.peak };
  iob.forEach((x, i) => x.iobWithZeroTemp = total({ treatments, profile, calculate }, new Date(now + i * 300000)));
}

let rest = '';
process.stdin.on('data', chunk => {
  rest += chunk;
  for (let end; (end = rest.indexOf('\n')) >= 0;) {
    const line = rest.slice(0, end);
    rest = rest.slice(end + 1);
    let answer;
    try { answer = step(JSON.parse(line)); } catch (error) { answer = { error: String(error.stack) }; }
    process.stdout.write(JSON.stringify(answer) + '\n');
  }
});
