// Charts at the width that they have. Guarantees: a chart is drawn by the server for the width of its place, so that its letters are as large everywhere; it is asked for
// anew when that width changes; without this script it is drawn for a usual one. A tap on a chart chooses an instant, and offers what can be done there.
import { refresh } from './live.js';
import { clockText, sessionNow } from './times.js';

const facts = document.body.dataset;
const step = 20;         // px: between two widths that are drawn alike
const [least, most] = [220, 1600];

/** What is drawn for a place so wide. */
const widthFor = (px) => Math.max(least, Math.min(most, Math.floor(px / step) * step));

function measure() {
  const place = document.querySelector('[data-chart]');
  if (!place || place.clientWidth === 0) return;
  const width = String(widthFor(place.clientWidth));
  if (facts.width === width) return;
  facts.width = width;
  document.cookie = `chart=${width}; path=/; max-age=31536000; SameSite=Strict`;
  if (facts.page !== 'past') refresh(true);
}

// MARK: an instant

function chosen(event) {
  const svg = event.target.closest?.('[data-chart] svg[data-from]');
  const menu = document.querySelector('[data-instant]');
  if (!menu || !svg) return;
  // The widest ground of a chart is that of its plot.
  const plot = [...svg.querySelectorAll('rect')].map((rect) => rect.getBoundingClientRect()).reduce((a, b) => (b.width > a.width ? b : a), { width: 0 });
  if (plot.width === 0) return;
  const share = (event.clientX - plot.left) / plot.width;
  const seconds = Math.round(Number(svg.dataset.from) + share * (Number(svg.dataset.to) - Number(svg.dataset.from)));
  if (share < 0 || share > 1 || seconds > sessionNow() || seconds < 0) { menu.hidden = true; return; }
  show(menu, seconds, Number(svg.dataset.clock));
}

function show(menu, seconds, offset) {
  const day = ((seconds + offset) % 86400 + 86400) % 86400;
  const two = (value) => String(value).padStart(2, '0');
  menu.querySelector('[data-instant-words]').textContent = `At ${clockText(`${two(Math.floor(day / 3600))}:${two(Math.floor(day / 60) % 60)}`)}`;
  for (const link of menu.querySelectorAll('a[data-instant-link]')) link.href = `${link.dataset.instantLink}?t=${seconds}${link.dataset.instantHash ?? ''}`;
  menu.hidden = false;
}

export function startChart() {
  const place = document.querySelector('[data-chart]');
  if (!place) return;
  new ResizeObserver(measure).observe(place);
  measure();
  document.addEventListener('click', chosen);
}
