// Asks LoopInsighT1 (https://github.com/hpeuscher/loopinsight1, MIT) for its forecasts and plans on the problems of Tests/Oracles/hovorka_oracle.py,
// and adds them to the recording.
//
//     esbuild Tests/Oracles/hovorka_oracle.js --bundle --platform=node --alias:lt1=CHECKOUT/src --outfile=oracle.js
//     node oracle.js < problems.json > Tests/Oracles/recordings/hovorka.json
//
// CHECKOUT is a clone at 9a60920; esbuild is Debian's. Nothing of it is copied: it is run. Three things of it are set right first, as each would hide
// all else: its integrator goes by whole minutes instead of Euler's five, renal loss has its factor VG·BW, and production does not go below nothing.

import Controller, { TargetProjector } from 'lt1/core/controllers/MPC_Hovorka2004.js'
import Cambridge from 'lt1/core/models/Cambridge.js'
import SolverRK4 from 'lt1/core/solvers/SolverRK4.js'
import { readFileSync } from 'fs'

const [VG, THEIRS] = [0.16, 18.018];
const SIT = 51.2e-4, SID = 8.2e-4, SIE = 520e-4, F01 = 0.0097;
const round = (x, digits = 7) => Math.round(x * 10 ** digits) / 10 ** digits;

class Body extends Cambridge {
  computeDerivatives(t, x, u) {
    const p = this.evaluateParameterValuesAt(t), d = super.computeDerivatives(t, x, u);
    const over = Math.max(0, x.Q1 / (p.VG * p.BW) - 9);
    d.Q1 += 0.003 * over * (1 - p.VG * p.BW) + p.EGP0 * p.BW * Math.max(0, x.x3 - 1);
    return d;
  }
}

const lines = readFileSync(0, 'utf8').split('\n').filter(l => l);
process.stdout.write(lines[0] + '\n');
for (const line of lines.slice(1)) {
  const row = JSON.parse(line), { problem, answer } = row;
  const BW = problem.therapy.weight, m = answer.mean;
  const s = [0, 1, 2].map(i => answer.scale * Math.exp(m[2 + i]));
  const patient = new Body({
    BW, SIT: SIT * s[0], SID: SID * s[1], SIE: SIE * s[2], EGP0: answer.production * VG * (1 + m[5]), F01: F01 * (1 + m[6]), AG: answer.absorbed,
  });
  const moles = answer.absorbed * 1000 / 180.16, [S1, S2, I, w1, w2, w3] = answer.insulin;
  const x = {
    Q1: m[0] * VG * BW, Q2: m[1] * VG * BW, S1, S2, I, x1: SIT * s[0] * w1, x2: SID * s[1] * w2, x3: SIE * s[2] * w3,
    D1: answer.gut[0] * moles, D2: answer.gut[1] * moles,
  };
  const controller = new Controller({ targetBG: problem.target * THEIRS, kaggr: problem.aggressiveness, lowerBound: 0, upperBound: problem.highest });
  const t = new Date(1.7e12 - 1.7e12 % 900000);
  controller.patient = patient;
  controller.reset(t);
  controller.solver = new SolverRK4();
  // Their filter is not asked: it has no parameters to believe.
  const vector = Object.keys(patient.getStateDescription()).map(name => x[name]);
  controller.ekf = { innovation: () => vector, prediction: () => { } };
  controller.u_opt_last = Array(12).fill(problem.therapy.basal);
  patient.setInitialState(x);
  const glucose = controller.predict(answer.rates, t, 15, {});
  controller.update(t, { CGM: () => m[0] * THEIRS }, {});
  const rates = controller.u_opt_last;
  const trajectory = new TargetProjector(m[0] * THEIRS, 12, 15, problem.target * THEIRS).getTargetTrajectory();
  row.second = { glucose: glucose.map(g => round(g)), trajectory: trajectory.map(g => round(g)), rates: rates.map(r => round(r, 9)) };
  process.stdout.write(JSON.stringify(row) + '\n');
}
