// Times as the reader's browser writes them, ages and countdowns that go on at the session's pace. Guarantees: a time is the session's own local time, in
// 12 or 24 h as the browser has it, with the reader's own zone as its title; between two looks at the server nothing runs ahead of it by more than a
// quarter of an hour of session time; while the connection is lost nobody knows how old anything is, and the page says that in place of an age; a reading that turns 310 s old turns red without waiting for the server.
let at = 0;       // session seconds
let wall = 0;     // ms, when that was so
let speed = 0;    // session seconds per second
let isLost = false;
const clocks = new Map(); // of a ward's sessions
const mostAhead = 900;
const many = 50;        // people; drawing a ward of more costs
const seldom = 1800;    // ms between two looks at their ages
let tickedAt = -Infinity;

/** A ward of so many that it is drawn every two seconds: what rings is told by the stream, at once. */
export const isCrowd = () => document.querySelectorAll('.rows > [data-session], .wellline .name').length > many;

const speedOf = (pace) => pace === 'max' || pace === 'paused' ? 0 : Number(pace) || 0;

export function setClock(seconds, pace) {
  if (Number.isFinite(seconds)) at = seconds;
  wall = performance.now();
  if (pace !== undefined && pace !== null) speed = speedOf(String(pace));
}

/** One session's of many. */
export function setClockOf(id, seconds, pace) { clocks.set(id, { at: seconds, wall: performance.now(), speed: speedOf(pace) }); }

function reading(clock) {
  const ahead = (performance.now() - clock.wall) / 1000 * clock.speed;
  return clock.at + Math.min(ahead, Math.max(mostAhead, clock.speed));
}

/** The session's time, s since its start; of a part of a ward, the time of whom it is about. */
export function sessionNow(node) {
  const own = clocks.size ? clocks.get(node?.closest('[data-session]')?.dataset.session) : undefined;
  return reading(own ?? { at, wall, speed });
}

/** Nobody says any more what is so, nor how old it is. */
export function setLost(value) { isLost = value; tick(); }

// As the server writes them (`PageText.span`).
export function span(seconds) {
  const s = Math.max(0, Math.floor(seconds));
  if (s < 60) return `${s} s`;
  const m = Math.floor(s / 60);
  if (m < 60) return `${m} min`;
  if (m < 48 * 60) return m % 60 === 0 ? `${m / 60} h` : `${Math.floor(m / 60)} h ${m % 60} min`;
  const h = Math.floor(m / 60);
  return h % 24 === 0 ? `${h / 24} days` : `${Math.floor(h / 24)} days ${h % 24} h`;
}

// How long something lasts: seconds of it tell nobody anything.
const minutes = (seconds) => seconds < 60 ? '< 1 min' : span(seconds);

const local = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit', timeZone: 'UTC' });
const hour = new Intl.DateTimeFormat(undefined, { hour: 'numeric', timeZone: 'UTC' });
const hasHalves = ['h11', 'h12'].includes(local.resolvedOptions().hourCycle);
const own = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

function set(node, text) { if (node.textContent !== text) node.textContent = text; }

/** The session's own time of a moment with its offset, as the browser writes it; '' for none. */
export function clockOf(iso) {
  const shown = /T(\d\d):(\d\d)/.exec(iso ?? '');
  return shown ? local.format(new Date(Date.UTC(2000, 0, 1, Number(shown[1]), Number(shown[2])))) : '';
}

/** `14:05` in a sentence, as the browser writes it. */
export function clockText(text) {
  const shown = /^(\d\d):(\d\d)$/.exec(text);
  return shown ? local.format(new Date(Date.UTC(2000, 0, 1, Number(shown[1]), Number(shown[2])))) : text;
}

/** To be called for what has just been put into the page. */
export function writeTimes(root = document) {
  for (const time of root.querySelectorAll('time[datetime][data-t]')) {
    const iso = time.getAttribute('datetime');
    const shown = clockOf(iso);
    if (shown === '') continue;
    set(time, shown);
    const moment = new Date(iso);
    if (!Number.isNaN(moment.getTime())) {
      const title = `${own.format(moment)} where you are`;
      if (time.title !== title) time.title = title;
    }
  }
  // The axes of charts: 14:00 becomes 2 PM, which is no wider.
  if (hasHalves) {
    for (const label of root.querySelectorAll('.chart text')) {
      const shown = /^(\d\d):(\d\d)$/.exec(label.textContent);
      if (!shown) continue;
      const moment = new Date(Date.UTC(2000, 0, 1, Number(shown[1]), Number(shown[2])));
      label.textContent = shown[2] === '00' ? hour.format(moment) : local.format(moment);
    }
  }
  for (const clock of root.querySelectorAll('[data-clock]')) {
    const shown = clock.dataset.clock || clock.textContent.trim();
    if (!/^\d\d:\d\d$/.test(shown)) continue;
    clock.dataset.clock = shown;
    set(clock, clockText(shown));
  }
}

export function tick() {
  tickedAt = performance.now();
  if (isLost) {
    for (const node of document.querySelectorAll('[data-age]')) set(node, 'age unknown');
    for (const node of document.querySelectorAll('[data-until], [data-for]')) set(node, 'unknown');
    for (const node of document.querySelectorAll('[data-stale-after]')) turnStale(node);
    return;
  }
  for (const node of document.querySelectorAll('[data-age]')) set(node, `${span(sessionNow(node) - Number(node.dataset.age))} ago`);
  for (const node of document.querySelectorAll('[data-for]')) set(node, minutes(sessionNow(node) - Number(node.dataset.for)));
  for (const node of document.querySelectorAll('[data-until]')) set(node, span(Number(node.dataset.until) - sessionNow(node)));
  for (const node of document.querySelectorAll('[data-stale-after]')) {
    if (sessionNow(node) - Number(node.dataset.of) > Number(node.dataset.staleAfter)) turnStale(node);
  }
}

function turnStale(node) {
  for (const look of ['inrange', 'low', 'high', 'verylow', 'veryhigh']) node.classList.remove(look);
  node.classList.add('stale');
  const words = node.parentElement?.querySelector('[data-when-stale]');
  if (words) words.hidden = false;
  const fresh = node.parentElement?.querySelector('[data-fresh]');
  if (fresh) fresh.hidden = true;
}

export function startTimes() {
  const facts = document.body.dataset;
  setClock(Number(facts.now || 0), facts.page === 'past' ? 'paused' : facts.pace || 'paused');
  writeTimes();
  tick();
  setInterval(() => { if (!isCrowd() || performance.now() - tickedAt > seldom) tick(); }, 1000);
}
