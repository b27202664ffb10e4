// Sentences of the API in the reader's unit, from their parts (`ValueText`, `GlucoseUnit.text`, `PageText.shortened`). Guarantees: no word is read; a value stays on the side of what it is compared with; times of day are written as everywhere on the page.
import { clockText } from './times.js';

const perMillimole = 18.016;
const isMillimoles = document.body.dataset.unit === 'mmol/L';

const shorten = (text) => text.replace(/\d+\.\d{3,}/g, (number) => (Number(number) >= 10 ? Number(number).toFixed(1) : Number(number).toFixed(2)));

/** Of a sentence's `..._parts`; `plain` where there are none. */
export function words(parts, plain = '') {
  return parts?.length ? parts.map(partWords).join('') : shorten(plain);
}

function partWords(part) {
  if (part.is_time_of_day) return clockText(part.text);
  if (!isMillimoles || !part.unit?.startsWith('mg/dL')) return shorten(part.text);
  const shown = inMillimoles(part.value, part.compared_with, part.unit === 'mg/dL' ? 1 : 2);
  return part.shows_unit ? `${shown} mmol/L${part.unit.slice('mg/dL'.length)}` : shown;
}

function inMillimoles(mgdl, bound, fewest) {
  const value = mgdl / perMillimole;
  for (let places = fewest; places <= 6; places += 1) {
    const shown = value.toFixed(places);
    if (bound == null) return shown;
    const against = Number((bound / perMillimole).toFixed(places));
    if (Math.sign(Number(shown) - against) === Math.sign(mgdl - bound)) return shown;
  }
  return String(value);
}
