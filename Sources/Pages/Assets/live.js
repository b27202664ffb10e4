// Follows the server. Guarantees: asks for fragments when the stream says that something changed, at most 4 times a second and one at a time; a stream
// that breaks (also because the server was killed) or says nothing for 5 s (the server says something every 2 s) is opened again by itself, later and later up to
// 10 s, while a surface says since when nothing is known; then everything is fetched anew, and events that were missed come once, by their numbers. A new alert is spoken once.
import { swap, forget } from './swap.js';
import { isCrowd, setClock, writeTimes, tick, setLost } from './times.js';
import { afterSwap } from './banners.js';
import { notify, notifyOfServer, notifyOfWard, thaw, withdraw } from './notify.js';
import { found as foundTone, lost as lostTone, ring } from './sound.js';
import { afterRows, prepareRows, wantsWell } from './ward.js';
import { redraw } from './thresholds.js';
import { words as inWords } from './words.js';
import { hideDeclined, isScreen, pageKey, tellScreen, toldOf } from './commands.js';

const facts = document.body.dataset;
const between = 1000;         // ms, at least, between two fetches of what goes on by itself
const betweenMany = 2000;     // ms, the same for a crowd
const betweenActs = 150;      // ms, after what the reader did
const atLeastEvery = 10000;   // ms, where only time went on
const silence = 4500;         // ms without a word of the server, which speaks every 2 s: then nothing shown is live
const late = 3000;            // ms, after which somebody should look twice
let heardAt = performance.now();
let hasBegun = false;
let openedAt = 0;
let isFetching = false;
let isWanted = false;
let fetchedAt = 0;
let shown = '';
let timer = null;
let isLost = false;
let wait = 500;
let newest = Number(facts.number || 0);
let source = null;
let isGone = false;
let opening = null;
let state = '';               // what this page shows, as the server names it: only what differs is sent
let pace = facts.pace ?? '';
let ringsFrom = facts.rings ?? '';

const width = () => (facts.width ? `&width=${facts.width}` : '');
const address = () => facts.page === 'ward' ? `/pages/ward/fragments?well=${wantsWell() ? 1 : 0}`
  : facts.page === 'beside' ? `/pages/${encodeURIComponent(facts.session)}/beside/${encodeURIComponent(facts.other)}/fragments?hours=${facts.hours}${width()}`
  : `/pages/${encodeURIComponent(facts.session)}/${facts.page}/fragments?hours=${facts.hours}&cleared=${facts.cleared}${width()}`;

const pause = () => isCrowd() ? betweenMany : between;

/** Brings the page up to date, soon; at once where the reader waits for it. */
export function refresh(isAwaited = false) {
  isWanted = true;
  if (isFetching || (timer && isAwaited !== true)) return;
  clearTimeout(timer);
  timer = setTimeout(run, Math.max(0, fetchedAt + (isAwaited === true ? betweenActs : pause()) - performance.now()));
}

async function run() {
  timer = null;
  if (!isWanted || (document.hidden && !isLost)) return;
  isWanted = false;
  isFetching = true;
  fetchedAt = performance.now();
  try {
    const answer = await fetch(`${address()}&state=${state}`, { headers: { accept: 'application/json' }, cache: 'no-store', signal: AbortSignal.timeout(10000) });
    if (answer.status === 401 || answer.status === 403) { location.reload(); return; }
    if (answer.status === 404 || answer.status === 410) { gone(); return; }
    if (!answer.ok) throw new Error(`${answer.status}`);
    const said = await answer.json();
    if (facts.page === 'ward') prepareRows(said.fragments.order);
    // What could not be shown now is to be sent again.
    const isWhole = Object.entries(said.fragments).map(([name, html]) => swap(name, html)).every((done) => done !== null);
    state = isWhole ? said.state ?? '' : '';
    writeTimes();
    if (facts.page === 'ward') afterRows();
    tick();
    afterSwap();
    hideDeclined();
    redraw();
  } catch {
    lose();
  } finally {
    isFetching = false;
    if (isWanted) refresh();
  }
}

function gone() {
  isGone = true;
  source?.close();
  source = null;
  say('This session is no longer here. Go to the ward to see the others.');
}

// MARK: connection

const lost = document.getElementById('lost');

function say(text) {
  if (!lost) return;
  lost.hidden = text === '';
  if (lost.textContent !== text) lost.textContent = text;
}

function lose() {
  if (isGone) return;
  if (!isLost) {
    isLost = true;
    setLost(true);
    document.body.classList.add('is-lost');
    sayLost();
  }
  source?.close();
  source = null;
  if (opening) return;
  opening = setTimeout(() => { opening = null; open(); }, wait + Math.random() * wait / 2);
  wait = Math.min(wait * 2, 10000);
}

function clock(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')}`;
}

/** How long nobody has known anything, and since when: counted, as nothing else on the page is. */
function sayLost() {
  const at = new Date(Date.now() - (performance.now() - heardAt)).toLocaleTimeString();
  say(`Connection lost: no word for ${clock(performance.now() - heardAt)}. What you see was so at ${at}. Trying again…`);
  lostTone();
}

/** The age of the server's last word, and what that means. */
function showAge() {
  const place = document.querySelector('[data-live]');
  if (!place) return;
  const age = performance.now() - heardAt;
  const look = isLost || isGone ? 'lost' : !hasBegun ? 'connecting' : age > late ? 'late' : 'now';
  if (place.className !== `live ${look}`) place.className = `live ${look}`;
  const words = { lost: 'Lost', connecting: 'Connecting', late: 'Late', now: 'Live' }[look];
  for (const [selector, text] of [['[data-live-words]', words], ['[data-live-age]', look === 'connecting' ? '' : clock(age)]]) {
    const part = place.querySelector(selector);
    if (part && part.textContent !== text) part.textContent = text;
  }
}

function found() {
  heardAt = performance.now();
  hasBegun = true;
  wait = 500;
  foundTone();
  if (!isLost) return;
  isLost = false;
  setLost(false);
  document.body.classList.remove('is-lost');
  say('');
  tellScreen(undefined, true);
  forget();
  state = '';
  refresh();
}

/** A connection that stands and is silent is lost too: the server has stopped, or the network has gone. */
function listen() {
  if (source && performance.now() - Math.max(heardAt, openedAt) > silence) lose();
  if (isLost && !isGone) sayLost();
  showAge();
}

function open() {
  if (source || isGone) return;
  const stream = facts.page === 'ward' || facts.page === 'beside' ? `/api/events${ringsFrom ? `?rings=${ringsFrom}` : ''}`
    : `/api/sessions/${encodeURIComponent(facts.session)}/events?after=${newest}${isScreen ? `&page=${pageKey}` : ''}`;
  source = new EventSource(stream);
  if (!isLost) heardAt = performance.now();
  openedAt = performance.now();
  backlog = [];
  source.onopen = found;
  source.onerror = lose;
  source.addEventListener('view', (message) => { found(); view(JSON.parse(message.data)); catchUp(); });
  source.addEventListener('gone', gone);
  source.addEventListener('beat', found);
  source.addEventListener('ward', (message) => {
    found();
    const changed = JSON.parse(message.data).changed ?? [];
    if (facts.page === 'ward' || changed.includes(facts.session) || changed.includes(facts.other)) refresh();
  });
  source.addEventListener('rang', (message) => { found(); rang(JSON.parse(message.data), message.lastEventId); });
  source.addEventListener('happened', (message) => { found(); happened(JSON.parse(message.data)); });
}

// MARK: what it says

/** One of a ward's people is rung for: each once, by its number. A session's own page is told of what the server rings for, and of the rest as it happens. */
function rang(one, mark) {
  if (facts.page === 'beside' && ![facts.session, facts.other].includes(one.session)) return;
  if (facts.page === 'ward' || facts.page === 'beside') {
    if (mark && mark === ringsFrom) return;
    ringsFrom = mark || ringsFrom;
    notifyOfWard(one);
  } else {
    notifyOfServer(one);
  }
  ring(one);
  announce(one);
  refresh();
}

function view(said) {
  const isFrozen = Boolean(said.is_frozen ?? said.frozen);
  pace = said.pace;
  const isStill = isFrozen || (typeof said.phase === 'string' && said.phase !== 'running');
  setClock(Number(said.t ?? said.now), isStill ? 'paused' : said.pace);
  if (!said.sounding) thaw();
  const key = JSON.stringify([said.number, said.pace, isFrozen, said.sounding, said.phase, said.alerts, said.has_phone]);
  if (key !== shown || performance.now() - fetchedAt > atLeastEvery) {
    shown = key;
    refresh();
  } else {
    tick();
  }
}

// What came while nobody listened, until the stream stands at the present.
let backlog = [];

function happened(event) {
  const number = Number(event.number);
  if (number <= newest) return;
  newest = number;
  if (!backlog && event.outcome === 'done' && event.input?.name === 'told') toldOf(event.input.alert);
  if (!event.alert) return;
  const alert = { ...event.alert, at: event.at };
  if (backlog) backlog.push(alert); else take(alert);
}

function take(alert) {
  if (alert.effect === 'raise' || (alert.effect === 'notify' && alert.reason !== 'conditionHeld')) announce(alert);
  if (alert.effect === 'notify') { ring({ ...alert, session: facts.session, pace }); notify(alert); }
  if (alert.effect === 'withdraw' || alert.effect === 'clear') withdraw(alert);
}

/** Of what was missed only what still holds is told, each alert once. */
function catchUp() {
  if (!backlog) return;
  const missed = backlog;
  backlog = null;
  const still = new Map();
  for (const alert of missed) {
    if (alert.effect === 'clear' || alert.effect === 'withdraw') {
      still.delete(alert.code);
      withdraw(alert);
    } else if (alert.effect === 'notify' || (alert.effect === 'raise' && !still.has(alert.code))) {
      still.set(alert.code, alert);
    }
  }
  for (const alert of still.values()) {
    announce(alert);
    if (alert.effect === 'notify') { ring({ ...alert, session: facts.session, pace }); notify(alert); }
  }
}

// One at a time, each once: a reader hears "Urgent, Ada: Glucose is urgently low. Eat fast carbohydrate".
const queue = [];
const spoken = new Map();
let isSpeaking = false;

function announce(alert) {
  const words = { safetyCritical: 'Urgent', actionable: 'Action needed', informational: 'Information' };
  // The same twice is said once; what became more severe is not the same.
  const shows = { test: 'Test', preview: 'Preview' };
  const key = `${alert.session ?? ''} ${alert.code} ${shows[alert.reason] ?? alert.severity}`;
  const recently = spoken.get(key);
  if (recently && performance.now() - recently < 10000) return;
  spoken.set(key, performance.now());
  queue.push([shows[alert.reason] || words[alert.severity] || 'Alert', `, ${alert.name || facts.name || 'Islet'}: `, inWords(alert.message_parts, alert.message || alert.code), alert.action ? `. ${alert.action}` : ''].join('').replace('..', '.'));
  while (queue.length > 3) queue.shift();
  speak();
}

function speak() {
  if (isSpeaking || queue.length === 0) return;
  const place = document.getElementById('announcer');
  if (!place) return;
  isSpeaking = true;
  place.textContent = queue.shift();
  setTimeout(() => { isSpeaking = false; speak(); }, 1500);
}

export function startLive() {
  if (facts.page === 'past' || !(facts.session || facts.page === 'ward')) return;
  open();
  document.addEventListener('visibilitychange', () => { if (!document.hidden) { listen(); refresh(); } });
  setInterval(listen, 250);
  window.addEventListener('online', () => { if (!source) open(); });
  window.addEventListener('pagehide', () => { source?.close(); source = null; });
  window.addEventListener('pageshow', (event) => { if (event.persisted) { open(); forget(); state = ''; refresh(); } });
  setInterval(() => { if (!isLost && !document.hidden && performance.now() - fetchedAt > atLeastEvery) refresh(); }, 1000);
  // A range or a length of the list, chosen without loading the page anew.
  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('a[data-hours], a[data-cleared]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    if (link.dataset.hours && !document.querySelector('[data-fragment="charts"],[data-fragment="beside-charts"]')) return;
    event.preventDefault();
    if (link.dataset.hours) facts.hours = link.dataset.hours;
    if (link.dataset.cleared) facts.cleared = link.dataset.cleared;
    history.replaceState(null, '', `${location.pathname}?hours=${facts.hours}&cleared=${facts.cleared}`);
    refresh(true);
  });
}
