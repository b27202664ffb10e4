// Sentences of the API, which are in mg/dL, as the page shows them (`GlucoseUnit.words`, `Telling.shortened`). Guarantees: a value and the bound that it is compared with are in one unit; times of day are written as everywhere on the page.
import { clockText } from './times.js';

const perMillimole = 18.016;
const isMillimoles = document.body.dataset.unit === 'mmol/L';

const shorten = (text) => text.replace(/\d+\.\d{3,}/g, (number) => (Number(number) >= 10 ? Number(number).toFixed(1) : Number(number).toFixed(2)));

export function words(text) {
  return inUnit(text).replace(/ since (\d\d:\d\d)/g, (all, clock) => ` since ${clockText(clock)}`);
}

function inUnit(text) {
  if (!isMillimoles) return shorten(text);
  const convert = (value, rate) => (Number(value) / perMillimole).toFixed(rate ? 2 : 1);
  return shorten(text.replace(/(-?\d+(?:\.\d+)?) mg\/dL(\/min)?((?:, (?:was )?(?:below|above) )(-?\d+(?:\.\d+)?))?/g,
    (all, value, rate = '', clause = '', bound = '') => `${convert(value, rate)} mmol/L${rate}${clause ? clause.slice(0, clause.length - bound.length) + convert(bound, rate) : ''}`));
}
