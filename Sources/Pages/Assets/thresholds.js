// The sliders of thresholds. Guarantees: slider and number always say the same; what a setting would have rung on the last day is asked of the server (250 ms after the last
// move) and shown on the chart and in words; a lower bound that isn't below the upper one can't be sent, and the form says why.
import { send, reason, refusal, command } from './commands.js';
import { refresh } from './live.js';
import { askPermission } from './notify.js';

const facts = document.body.dataset;
const timers = new WeakMap();
const asked = new WeakMap();

const field = (form, side) => form.querySelector(`[data-side="${side}"]`);
const isOn = (form, side) => field(form, side).querySelector('[data-side-on]').checked;
const shown = (form, side) => Number(field(form, side).querySelector('input[type="number"]').value);
const number = (form, side) => (isOn(form, side) ? shown(form, side) : null);

/** In the units of the API. */
function sent(form, side) {
  const value = number(form, side);
  if (value === null) return null;
  const factor = Number(form.dataset.factor);
  return factor === 1 ? value : Math.round(value * factor * 1000) / 1000;
}

/** Why it can't be sent; '' where it can. */
function problem(form) {
  const name = form.dataset.name;
  for (const side of ['low', 'high']) {
    if (!isOn(form, side)) continue;
    const input = field(form, side).querySelector('input[type="number"]');
    const value = input.value === '' ? NaN : Number(input.value);
    if (!(value >= Number(input.min) && value <= Number(input.max))) {
      return `Not saved: ${name} ${side === 'low' ? '“ring below”' : '“ring above”'} has to be from ${input.min} to ${input.max} ${form.dataset.unit}.`;
    }
  }
  const low = number(form, 'low');
  const high = number(form, 'high');
  if (low !== null && high !== null && low >= high) {
    return `Can’t be saved: “ring below” (${low}) has to be less than “ring above” (${high}), or it would always ring.`;
  }
  return '';
}

function write(form) {
  const text = problem(form);
  const place = form.querySelector('[data-problem]');
  if (place.textContent !== text) place.textContent = text;
  const button = form.querySelector('button[type="submit"]');
  if (text) { button.disabled = true; button.dataset.held = '1'; } else if (button.dataset.held) {
    delete button.dataset.held;
    button.disabled = form.querySelector('input').disabled;
  }
  for (const side of ['low', 'high']) {
    const around = field(form, side);
    const slider = around.querySelector('input[type="range"]');
    slider.setAttribute('aria-valuetext', `${around.querySelector('input[type="number"]').value} ${form.dataset.unit}`);
    around.classList.toggle('is-off', !isOn(form, side));
  }
  lines(form);
}

const svg = (name, attributes) => {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
};

function lines(form) {
  const chart = form.querySelector('.preview svg');
  if (!chart) return;
  const bottom = Number(chart.dataset.bottom);
  const top = Number(chart.dataset.top);
  const made = [];
  for (const side of ['low', 'high']) {
    const value = number(form, side);
    if (value === null) continue;
    const y = Math.max(0, Math.min(100, 100 - (value - bottom) / (top - bottom) * 100));
    made.push(svg('line', { class: 'bound-line', x1: 0, x2: 1000, y1: y, y2: y }));
  }
  chart.querySelector('[data-lines]').replaceChildren(...made);
}

const seconds = (time) => (time && typeof time === 'object' ? time.t : time);

function ask(form, after) {
  if (!form.querySelector('.preview svg')) return;
  clearTimeout(timers.get(form));
  timers.set(form, setTimeout(async () => {
    const would = form.querySelector('[data-would]');
    const enabled = form.querySelector('[name="enabled"]').checked;
    const chart = form.querySelector('.preview svg');
    const marks = chart.querySelector('[data-episodes]');
    if (problem(form)) return;
    if (!enabled) {
      marks.replaceChildren();
      would.textContent = `Off: ${form.dataset.name.toLowerCase()} rings nothing.`;
      return;
    }
    const body = {
      metric: form.dataset.metric, low: sent(form, 'low'), high: sent(form, 'high'),
      sensitivity_minutes: Number(form.querySelector('[name="sensitivity_minutes"]:checked')?.value ?? 0),
    };
    const key = JSON.stringify(body);
    asked.set(form, key);
    const answer = await send(`/api/sessions/${encodeURIComponent(facts.session)}/preview`, body, 1);
    if (asked.get(form) !== key) return;
    if (!answer.ok) { would.textContent = reason(answer); marks.replaceChildren(); return; }
    const { episodes = [], would_ring: count = episodes.length } = answer.body;
    const from = Number(chart.dataset.from);
    marks.replaceChildren(...episodes.map((episode) => {
      const x = Math.max(0, (seconds(episode.from) - from) / 86.4);
      const end = episode.to === null || episode.to === undefined ? 1000 : Math.min(1000, (seconds(episode.to) - from) / 86.4);
      return svg('rect', { class: 'episode', x, y: 0, width: Math.max(3, end - x), height: 100 });
    }));
    const low = episodes.filter((episode) => episode.side === 'low').length;
    const sides = count > 0 && episodes.some((episode) => episode.side) ? ` (${low} low, ${count - low} high)` : '';
    would.textContent = count === 0 ? 'In the last 24 hours this would have rung nothing.'
      : `In the last 24 hours this would have rung ${count === 1 ? 'once' : `${count} times`}${sides}.`;
  }, after));
}

function moved(event) {
  const form = event.target.closest?.('form[data-surface="threshold"]');
  if (!form) return;
  const around = event.target.closest('[data-side]');
  if (around && event.target.type === 'range') around.querySelector('input[type="number"]').value = event.target.value;
  if (around && event.target.type === 'number' && event.target.value !== '') around.querySelector('input[type="range"]').value = event.target.value;
  if (around && (event.target.type === 'range' || event.target.type === 'number')) around.querySelector('[data-side-on]').checked = true;
  write(form);
  ask(form, 250);
}

async function save(form) {
  if (problem(form)) { write(form); return; }
  const answers = form.querySelectorAll('.answer');
  const place = answers[answers.length - 1];
  place.classList.remove('refused');
  place.textContent = 'Sending…';
  // Whoever sets a threshold wants to hear of it.
  askPermission();
  const answer = await command('threshold', {
    metric: form.dataset.metric, low: sent(form, 'low'), high: sent(form, 'high'),
    sensitivity_minutes: Number(form.querySelector('[name="sensitivity_minutes"]:checked')?.value ?? 0),
    enabled: form.querySelector('[name="enabled"]').checked,
  });
  place.classList.toggle('refused', !answer.ok);
  place.textContent = answer.ok ? 'Saved.' : refusal(answer);
  if (!answer.ok) return;
  // What was set is what holds: the session may show it from here on.
  for (const input of form.querySelectorAll('input')) {
    if (input.type === 'checkbox' || input.type === 'radio') input.defaultChecked = input.checked;
    else input.defaultValue = input.value;
  }
  refresh();
}

let drawnAt = -Infinity;

/** After a swap: the lines are where the fields are. */
export function redraw() {
  const forms = document.querySelectorAll('form[data-surface="threshold"]');
  if (forms.length === 0) return;
  for (const form of forms) write(form);
  if (performance.now() - drawnAt < 15000) return;
  drawnAt = performance.now();
  for (const form of forms) if (!form.contains(document.activeElement)) ask(form, 0);
}

export function startThresholds() {
  if (facts.page !== 'settings') return;
  redraw();
  document.addEventListener('input', moved);
  document.addEventListener('change', moved);
  document.addEventListener('submit', (event) => {
    const form = event.target.closest('form[data-surface="threshold"]');
    if (form) save(form);
  });
  document.addEventListener('click', (event) => {
    if (event.target.closest?.('[data-recommend] button')) askPermission();
    if (!event.target.closest?.('[data-undo]')) return;
    const form = event.target.closest('form');
    form.reset();
    write(form);
    ask(form, 0);
  });
}
