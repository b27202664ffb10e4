// Islet's own `pid-insulin-feedback` in JavaScript, by lines: the same doses to the bit, as a test holds.
//
// Each formula stands as in Sources/IsletLoop/DosingAlgorithms/PIDInsulinFeedback.swift, in the same order of operations. A state is a
// plain object, so that undoing a step is going back to a copy of it.
const STEP_MINUTES = 5, STEPS_PER_HOUR = 12, LONGEST_MEMORY = 288;
const SUBCUTANEOUS = 0.64935, PLASMA = 0.34128, EFFECTIVE = 0.0093667;

const least = (x, y) => (y < x ? y : x);
const largest = (x, y) => (y >= x ? y : x);
// Seconds with nine places: all nanoseconds count, and a double has no room for those of 104 days.
const minutes = (text) => Number(BigInt(text.replace(".", ""))) / 60e9;

// e to the power of x, from arithmetic alone, as Islet has it.
function exponential(x) {
  const shift = 1.5 * 2 ** 52, words = new DataView(new ArrayBuffer(8));
  const shifted = x * 1.4426950408889634 + shift, n = shifted - shift;
  const r = x - n * 0.6931471803691238 - n * 1.9082149292705877e-10;
  const pair = (even, odd) => r * odd + even;
  const r2 = r * r, r4 = r2 * r2;
  const from2 = pair(1 / 2, 1 / 6) + r2 * pair(1 / 24, 1 / 120);
  const from6 = pair(1 / 720, 1 / 5040) + r2 * pair(1 / 40320, 1 / 362880);
  const from10 = pair(1 / 3628800, 1 / 39916800) + r2 * pair(1 / 479001600, 1 / 6227020800);
  const series = 1 + (r + r2 * (from2 + r4 * (from6 + r4 * from10)));
  words.setFloat64(0, shifted);
  words.setBigUint64(0, BigInt.asUintN(64, (words.getBigUint64(0) + 1023n) << 52n));
  return series * words.getFloat64(0);
}

// Three first-order compartments in a row with unit gain, advanced exactly over steps of constant input.
const k1 = 1 / 50, k2 = 1 / 70, k3 = 1 / 55;
const [a11, a22, a33] = [k1, k2, k3].map((k) => exponential(-k * STEP_MINUTES));
const a21 = (k2 * (a11 - a22)) / (k2 - k1), a32 = (k3 * (a22 - a33)) / (k3 - k2);
const a31 = k2 * k3 * (
  a11 / ((k2 - k1) * (k3 - k1)) + a22 / ((k1 - k2) * (k3 - k2)) + a33 / ((k1 - k3) * (k2 - k3)));
const b1 = 1 - a11, b2 = 1 - a21 - a22, b3 = 1 - a31 - a32 - a33;
const advance = (x, value) => [
  a11 * x[0] + b1 * value, a21 * x[0] + a22 * x[1] + b2 * value, a31 * x[0] + a32 * x[1] + a33 * x[2] + b3 * value];

function takeBack(x, value, steps) {
  if (!(steps >= 1 && steps <= LONGEST_MEMORY)) return x;
  let y = advance([0, 0, 0], value);
  for (let step = 1; step < steps; step++) y = advance(y, 0);
  return x.map((amount, place) => amount - y[place]);
}

function add(x, amount, lastSteps) {
  const whole = Math.floor(lastSteps);
  const steps = least(largest(1, lastSteps - whole >= 0.5 ? whole + 1 : whole), LONGEST_MEMORY);
  let y = [0, 0, 0];
  for (let step = 0; step < steps; step++) y = advance(y, (amount * STEPS_PER_HOUR) / steps);
  return x.map((one, place) => one + y[place]);
}

const settings = {
  kp: [0.25, 0, 5, "1/h", "the share of a full correction asked for per hour"],
  ti: [450, 10, 100000, "min", "integral time"],
  td: [110, 0, 1000, "min", "derivative time"],
  integral_min: [-0.8, -5, 0, "1", "least integral, as a multiple of the basal rate"],
  integral_max: [0.5, 0, 5, "1", "largest integral, as a multiple of the basal rate"],
  largest_basal_multiple: [3, 1, 10, "1", "largest rate beside the meal bolus, as a multiple of the basal rate"],
  suspend_below: [105, 60, 200, "mg/dL", "predicted glucose below which nothing is delivered"],
  prediction: [45, 0, 120, "min", "how far that prediction looks ahead"],
  derivative_weight: [0.35, 0.01, 1, "1", "weight of a new reading in the derivative"],
  meal_feedback: [0.25, 0, 1, "1", "the share of a meal bolus that the feedback counts"],
};
const p = {};
const counted = (units, manual) => p.meal_feedback * (units - manual) + manual;

// The hours before, where a state begins in the middle of somebody's day.
function takeUp(state, s, person, earlier) {
  const now = minutes(s.now);
  const steps = least(Math.ceil((now - minutes(earlier[0].complete)) / STEP_MINUTES), LONGEST_MEMORY);
  for (let back = largest(0, steps); back > 0; back--) {
    const start = now - back * STEP_MINUTES, end = now - (back - 1) * STEP_MINUTES;
    let units = 0;
    for (const given of earlier) {
      const since = minutes(given.since), until = minutes(given.until);
      const share = until > since ? largest(0, least(end, until) - largest(start, since)) / (until - since) : 0;
      units += share * (given.amount - given.user + counted(given.user, given.manual));
    }
    state.onBoard = advance(state.onBoard, (units * 60) / STEP_MINUTES - person.basal);
  }
}

function control(state, s, person, basal) {
  const glucose = s.cgm, minute = minutes(s.cgm_time), target = s.temporary_target ?? s.target;
  if (state.hasHistory && minute > state.lastMinute) {
    const slope = (glucose - state.lastGlucose) / (minute - state.lastMinute);
    state.slope += p.derivative_weight * (slope - state.slope);
  } else {
    state.slope = 0;
  }
  Object.assign(state, { hasHistory: true, lastGlucose: glucose, lastMinute: minute });
  const gain = p.kp / person.cf, error = glucose - target;
  const isLow = glucose + least(0, state.slope) * p.prediction < p.suspend_below;
  const step = (gain * error * STEP_MINUTES) / p.ti;
  state.integral = least(largest(state.integral + step, p.integral_min * basal), p.integral_max * basal);
  if (isLow) state.integral = least(state.integral, 0);
  const pid = gain * error + state.integral + gain * state.slope * p.td;
  const total = SUBCUTANEOUS + PLASMA + EFFECTIVE;
  const feedback = SUBCUTANEOUS * state.onBoard[0] + PLASMA * state.onBoard[1] + EFFECTIVE * state.onBoard[2];
  if (isLow) return 0;
  return least(largest(basal + (1 + total) * pid - feedback, 0), p.largest_basal_multiple * basal);
}

function dose(state, s, person, earlier) {
  const basal = person.basal * s.basal_multiplier, manual = s.manual_bolus;
  let meal = s.meal !== undefined ? s.meal / person.cr : 0;
  if (manual !== undefined) meal = meal + manual;
  if (earlier) takeUp(state, s, person, earlier);
  if (state.hasStepped) {
    const missed = Math.min(Math.max(0, s.step - state.lastStep - 1), LONGEST_MEMORY);
    for (let step = 0; step < missed; step++) state.onBoard = advance(state.onBoard, -basal);
  }
  Object.assign(state, { lastStep: s.step, hasStepped: true });
  if (s.shortfall !== undefined)
    state.onBoard = takeBack(state.onBoard, s.shortfall * STEPS_PER_HOUR, s.step - s.shortfall_step);
  if (s.dropped !== undefined)
    state.onBoard = takeBack(
      state.onBoard, counted(s.dropped, s.dropped_manual) * STEPS_PER_HOUR, s.step - s.dropped_step);
  if (s.pump_basal > 0)
    state.onBoard = add(state.onBoard, s.pump_basal, (minutes(s.now) - minutes(s.pump_basal_since)) / STEP_MINUTES);
  let rate = basal, forecast = null;
  if (s.cgm !== undefined) {
    const isSloped = state.hasHistory && minutes(s.cgm_time) > state.lastMinute;
    rate = control(state, s, person, basal);
    if (isSloped && p.prediction > 0) forecast = largest(0, state.lastGlucose + state.slope * p.prediction);
  } else {
    state.hasHistory = false;
  }
  const isOpen = (s.flags & 2) !== 0, byHand = manual ?? 0, asked = isOpen ? byHand : meal;
  const delivered = s.flags & 1 && !isOpen ? rate : 0;
  state.onBoard = advance(state.onBoard, delivered - basal + counted(asked, byHand) * STEPS_PER_HOUR);
  return {
    handle: s.handle, step: s.step, basal: least(rate, basal) / STEPS_PER_HOUR,
    correction: largest(0, rate - basal) / STEPS_PER_HOUR, meal, forecast };
}

const fresh = () => ({
  integral: 0, slope: 0, lastGlucose: 0, lastMinute: 0, onBoard: [0, 0, 0], hasHistory: false, hasStepped: false,
  lastStep: 0 });
const people = {};
const fs = require("fs");
const say = (value) => fs.writeSync(1, JSON.stringify(value) + "\n");

function hear(said) {
  if (said.protocol) {
    for (const name in settings) p[name] = said.parameters[name] ?? settings[name][0];
    say({
      protocol: "islet-step/1", encoding: "lines", name: "pid", version: 3, basalSource: "algorithm",
      forecastMinutes: 45, runs: "alone", isolates: true, runtime: "node " + process.version,
      parameters: Object.entries(settings).map(([name, [value, lowest, most, unit, meaning]]) => (
        { name, unit, least: lowest, most, default: value, meaning })),
    });
  } else if (said.begin) {
    for (const person of said.begin) {
      const known = people[person.handle];
      people[person.handle] = person.flags & 1 && known ? { ...known, person } : { person, state: fresh() };
    }
  } else if (said.history) {
    for (const row of said.history) (people[row.handle].earlier ??= []).push(row);
  } else if (said.step) {
    say({
      dose: said.step.map((s) => {
        const one = people[s.handle];
        if (s.flags & 16 && one.before) one.state = { ...one.before };
        one.before = { ...one.state };
        const earlier = one.earlier;
        delete one.earlier;
        return dose(one.state, s, one.person, earlier);
      }),
    });
  } else if (said.end) {
    for (const handle of said.end) delete people[handle];
    say({});
  }
}

const decoder = new (require("string_decoder").StringDecoder)("utf8"), buffer = Buffer.alloc(65536);
let text = "";
for (let count; (count = fs.readSync(0, buffer)) > 0;) {
  const lines = (text + decoder.write(buffer.subarray(0, count))).split("\n");
  text = lines.pop();
  for (const line of lines) hear(JSON.parse(line));
}
