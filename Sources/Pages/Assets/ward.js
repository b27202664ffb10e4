// The ward's rows. Guarantees: they stand in the server's order, which one can read: a row moves when its class changes, or when it has been out of place for ten seconds,
// and none moves while the pointer or the keyboard is among them (a button says who got worse); a filter hides rows and reorders none; title and icon say how many are
// urgent; all of it works by the keyboard alone. Does not: judge. Class and order are the server's.
import { refresh } from './live.js';
import { setClockOf } from './times.js';
import { command } from './commands.js';
import { listensAs, toggle } from './sound.js';

const patience = 10000;  // ms that a row may be out of place
const attention = 120000; // ms that the keyboard counts as among the rows after its last use there
const glide = 180;       // ms

const list = () => document.querySelector('.rows');
const rowOf = (id) => list()?.querySelector(`:scope > [data-session="${CSS.escape(id)}"]`);
let wanted = [];         // as the server has them, the worst first
let wrongSince = new Map();
let shown = new Map();   // each row's danger when rows last stood as they should
let filter = '';
let find = '';
let showsWell = false;
let isPointed = false;
let usedAt = -Infinity;

/** Whether rows of who is well are wanted too. */
export const wantsWell = () => showsWell || filter === 'well' || find !== '';

function parse(text) {
  return text.split(';').filter(Boolean).map((line) => {
    const [id, group, danger, t, pace, filters] = line.split(' ');
    return { id, group, danger: Number(danger), t: Number(t), pace, filters: (filters ?? '').split(',') };
  });
}

/** Before rows are swapped: those that are new are there. */
export function prepareRows(order) {
  const rows = list();
  if (!rows || order === undefined) return;
  // A ward that was empty, or is, is another page.
  const now = parse(order);
  if ((now.length === 0) !== (rows.children.length === 0)) { location.reload(); return; }
  for (const one of now) {
    if (rowOf(one.id)) continue;
    const row = document.createElement('li');
    row.className = 'person';
    row.tabIndex = -1;
    Object.assign(row.dataset, { surface: 'card', fragment: `row-${one.id}`, session: one.id, key: one.id, class: one.group });
    rows.append(row);
  }
}

/** After each change of the page. */
export function afterRows() {
  const place = document.querySelector('[data-fragment="order"]');
  if (!place || !list()) return;
  wanted = parse(place.textContent);
  const ids = new Set(wanted.map((one) => one.id));
  for (const row of [...list().children]) if (!ids.has(row.dataset.session)) row.remove();
  const moved = new Set();
  wanted.forEach((one, index) => {
    const row = rowOf(one.id);
    setClockOf(one.id, one.t, one.pace);
    if (!row) return;
    if (row.dataset.class !== one.group) {
      if (shown.has(one.id)) moved.add(one.id);
      row.dataset.class = one.group;
    }
    if (!shown.has(one.id)) { moved.add(one.id); shown.set(one.id, one.danger); }
    row.dataset.order = String(index);
  });
  arrange(moved);
  sieve();
  tell();
}

// MARK: order

const isBusy = () => isPointed || (list()?.contains(document.activeElement) && performance.now() - usedAt < attention);

function arrange(moved) {
  const rows = list();
  const order = new Map(wanted.map((one, index) => [one.id, index]));
  const now = [...rows.children].map((row) => row.dataset.session);
  // Those that stand behind one which they should stand before.
  const wrong = now.filter((id, place) => now.some((other, there) => (there < place) !== (order.get(other) < order.get(id)) && other !== id));
  const time = performance.now();
  for (const id of wrong) if (!wrongSince.has(id)) wrongSince.set(id, time);
  for (const id of [...wrongSince.keys()]) if (!wrong.includes(id)) wrongSince.delete(id);
  if (isBusy()) { offer(); return; }
  hide();
  const due = now.filter((id) => moved.has(id) || time - (wrongSince.get(id) ?? time) >= patience);
  if (due.length === 0) { if (wrong.length === 0) settle(); return; }
  place(due, order);
  if (![...rows.children].some((row, index, all) => index > 0 && order.get(all[index - 1].dataset.session) > order.get(row.dataset.session))) settle();
}

function settle() {
  wrongSince.clear();
  shown = new Map(wanted.map((one) => [one.id, one.danger]));
}

function place(due, order) {
  const rows = list();
  const before = new Map([...rows.children].map((row) => [row, row.getBoundingClientRect().top]));
  const focus = document.activeElement;
  for (const id of [...due].sort((a, b) => order.get(a) - order.get(b))) {
    const row = rowOf(id);
    const next = [...rows.children].find((other) => other !== row && !(due.includes(other.dataset.session) && order.get(other.dataset.session) > order.get(id)) && order.get(other.dataset.session) > order.get(id));
    if (row.nextElementSibling !== (next ?? null)) rows.insertBefore(row, next ?? null);
    wrongSince.delete(id);
    shown.set(id, wanted[order.get(id)].danger);
  }
  if (focus && focus !== document.activeElement && rows.contains(focus)) focus.focus({ preventScroll: true });
  document.body.dataset.moves = String(Number(document.body.dataset.moves ?? 0) + 1);
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  for (const [row, top] of before) {
    const by = top - row.getBoundingClientRect().top;
    if (by !== 0 && !row.hidden) row.animate([{ transform: `translateY(${by}px)` }, { transform: 'none' }], { duration: glide, easing: 'ease-out' });
  }
}

function offer() {
  const worse = wanted.filter((one) => one.danger < (shown.get(one.id) ?? one.danger) && wrongSince.has(one.id));
  const pill = document.querySelector('[data-pill]');
  if (!pill) return;
  pill.hidden = worse.length === 0;
  const text = worse.length === 1 ? '1 person got worse: show' : `${worse.length} people got worse: show`;
  if (worse.length && pill.textContent !== text) pill.textContent = text;
}

function hide() { const pill = document.querySelector('[data-pill]'); if (pill) pill.hidden = true; }

function show() {
  const worse = wanted.find((one) => one.danger < (shown.get(one.id) ?? one.danger));
  const order = new Map(wanted.map((one, index) => [one.id, index]));
  place([...list().children].map((row) => row.dataset.session), order);
  settle();
  hide();
  const row = worse && rowOf(worse.id);
  row?.scrollIntoView({ block: 'nearest' });
  row?.focus();
}

// MARK: what is shown

function passes(one, row) {
  const name = row.querySelector('.name')?.textContent ?? '';
  if (find && !name.toLowerCase().includes(find.toLowerCase())) return false;
  if (filter === '') return one.group !== 'well' || showsWell || find !== '';
  return ['unheard', 'dry'].includes(filter) ? one.filters.includes(filter) : one.group === filter;
}

function sieve() {
  for (const one of wanted) {
    const row = rowOf(one.id);
    if (row) row.hidden = !passes(one, row);
  }
  for (const button of document.querySelectorAll('[data-filter]')) {
    const text = String(button.dataset.filter === filter);
    if (button.getAttribute('aria-pressed') !== text) button.setAttribute('aria-pressed', text);
  }
  const well = document.querySelector('.wellline');
  if (well) well.hidden = filter !== '' || find !== '';
  const button = document.querySelector('[data-show-well]');
  if (button) {
    button.setAttribute('aria-expanded', String(showsWell));
    button.textContent = showsWell ? 'Show as a line' : 'Show as rows';
    document.querySelector('.wellline .names').hidden = showsWell;
  }
  for (const item of document.querySelectorAll('.heard li')) item.hidden = Boolean(listensAs()) && item.dataset.session !== listensAs();
}

const plain = document.querySelector('link[rel="icon"]')?.href;

function tell() {
  const urgent = wanted.filter((one) => one.group === 'urgent').length;
  const title = `${urgent ? `(${urgent}!) ` : ''}Ward · Islet`;
  if (document.title !== title) document.title = title;
  const icon = document.querySelector('link[rel="icon"]');
  const href = urgent ? document.body.dataset.urgentIcon : plain;
  if (icon && href && icon.href !== href) icon.href = href;
}

// MARK: acts

const rowsShown = () => [...(list()?.children ?? [])].filter((row) => !row.hidden);
const here = () => document.activeElement?.closest?.('.rows > li');

function step(by) {
  const rows = rowsShown();
  if (rows.length === 0) return;
  const at = rows.indexOf(here());
  rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, at + by))].focus();
}

function act(name) {
  const row = here() ?? rowsShown()[0];
  const control = row?.querySelector(`[data-act="${name}"]:not(:disabled)`);
  if (!control) return;
  if (name === 'z') {
    control.parentElement.open = true;
    control.parentElement.querySelector('button')?.focus();
    return;
  }
  control.click();
}

const keys = {
  j: () => step(1), k: () => step(-1), a: () => act('a'), z: () => act('z'), o: () => act('o'), p: () => act('p'), m: toggle,
  '/': () => document.querySelector('[data-find]')?.focus(),
};

function pressed(event) {
  usedAt = performance.now();
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const field = event.target.closest?.('input, select, textarea');
  if (event.key === 'Escape') {
    const menu = event.target.closest?.('details.zz[open]');
    if (menu) { menu.open = false; menu.querySelector('summary').focus(); }
    if (field?.matches('[data-find]')) { field.value = ''; look(''); list()?.querySelector('li:not([hidden])')?.focus(); }
    return;
  }
  if (field || !keys[event.key] || document.querySelector('[data-keys]')?.checked === false) return;
  event.preventDefault();
  keys[event.key]();
}

/** The moment of a trace that is pressed: three hours up to the last reading, and the half hour to come, which is no past. */
function choose(link, event) {
  const frame = link.getBoundingClientRect();
  if (event.detail === 0 || frame.width === 0) return;
  const back = 180 - (event.clientX - frame.left) / frame.width * 210;
  const seconds = Math.max(0, Math.round(Number(link.dataset.last) - 60 * Math.max(0, back)));
  link.href = `${link.pathname}?t=${seconds}`;
}

function look(text) {
  const before = wantsWell();
  find = text;
  sieve();
  if (wantsWell() !== before) refresh(true);
}

async function paceOfAll(pace) {
  await Promise.all(wanted.filter((one) => one.pace !== 'over').map((one) => command('pace', { pace }, one.id)));
  refresh(true);
}

export function startWard() {
  if (document.body.dataset.page !== 'ward' || !list()) return;
  afterRows();
  const rows = list();
  rows.addEventListener('pointerenter', (event) => { if (event.pointerType === 'mouse') isPointed = true; });
  rows.addEventListener('pointerleave', () => { isPointed = false; });
  rows.addEventListener('focusin', () => { usedAt = performance.now(); });
  document.addEventListener('keydown', pressed);
  document.addEventListener('islet-listen', sieve);
  document.addEventListener('click', (event) => {
    const target = event.target;
    const button = target.closest?.('[data-filter]');
    if (button) {
      const before = wantsWell();
      filter = filter === button.dataset.filter ? '' : button.dataset.filter;
      sieve();
      if (wantsWell() !== before) refresh(true);
    }
    const past = target.closest?.('a.past');
    if (past) choose(past, event);
    if (target.closest?.('[data-show-well]')) { showsWell = !showsWell; sieve(); refresh(true); }
    if (target.closest?.('[data-pill]')) show();
    if (target.closest?.('[data-ward-pause]')) paceOfAll('paused');
    // A menu that was chosen from, or left, closes.
    for (const menu of document.querySelectorAll('details.zz[open]')) if (!menu.contains(target) || target.closest('.menu button')) menu.open = false;
  });
  document.querySelector('[data-ward-pace]')?.addEventListener('change', (event) => { if (event.target.value) paceOfAll(event.target.value); });
  document.querySelector('[data-find]')?.addEventListener('input', (event) => look(event.target.value.trim()));
  setInterval(() => { if (wrongSince.size) arrange(new Set()); }, 1000);
}
