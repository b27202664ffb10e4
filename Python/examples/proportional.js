// The algorithm of mine.py in JavaScript, by lines: one JSON object a line, no package.
const lines = require("readline").createInterface({ input: process.stdin });
let hello, people = {};

function dose(s) {
  const person = people[s.handle];
  let rate = person.basal;
  if (s.cgm !== undefined) rate += (hello.parameters.gain ?? 0.3) * (s.cgm - s.target) / person.cf;
  return { handle: s.handle, step: s.step, basal: Math.max(0, rate) / 12, meal: (s.meal ?? 0) / person.cr };
}

lines.on("line", (text) => {
  const said = JSON.parse(text);
  if (said.protocol) {
    hello = said;
    console.log(JSON.stringify({
      protocol: "islet-step/1", encoding: "lines", name: "proportional-js", version: 1, basalSource: "algorithm",
      runs: "alone", runtime: "node " + process.version,
      parameters: [{ name: "gain", unit: "1/h", least: 0, most: 5, default: 0.3, meaning: "share of a correction an hour" }],
    }));
  } else if (said.begin) {
    for (const person of said.begin) people[person.handle] = person;
  } else if (said.step) {
    console.log(JSON.stringify({ dose: said.step.map(dose) }));
  }
});
