// The algorithm of mine.py in JavaScript, by lines: one JSON object a line, no package.
const fs = require("fs"), decoder = new (require("string_decoder").StringDecoder)("utf8"), buffer = Buffer.alloc(65536);
const say = (value) => fs.writeSync(1, JSON.stringify(value) + "\n");
let hello, people = {}, text = "";

function dose(s) {
  const person = people[s.handle];
  let rate = person.basal;
  if (s.cgm !== undefined) rate += (hello.parameters.gain ?? 0.3) * (s.cgm - s.target) / person.cf;
  return { handle: s.handle, step: s.step, basal: Math.max(0, rate) / 12, meal: (s.meal ?? 0) / person.cr };
}

function hear(said) {
  if (said.protocol) {
    hello = said;
    say({
      protocol: "islet-step/1", encoding: "lines", name: "proportional-js", version: 1, basalSource: "algorithm",
      runs: "alone", isolates: true, runtime: "node " + process.version,
      parameters: [{ name: "gain", unit: "1/h", least: 0, most: 5, default: 0.3, meaning: "share of a correction an hour" }],
    });
  } else if (said.begin) {
    for (const person of said.begin) people[person.handle] = person;
  } else if (said.step) {
    say({ dose: said.step.map(dose) });
  } else if (said.end) {  // The next session is nobody's who was here before.
    people = {};
    say({});
  }
}

for (let count; (count = fs.readSync(0, buffer)) > 0;) {
  const lines = (text + decoder.write(buffer.subarray(0, count))).split("\n");
  text = lines.pop();
  for (const line of lines) hear(JSON.parse(line));
}
