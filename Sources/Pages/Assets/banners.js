// The carousel of active alerts, and the banner of a threshold. Guarantees: the carousel stays on the alert that the reader stepped to, until a
// more urgent one comes; a page that is the phone tells the session when a threshold's banner was on its screen for ten seconds; all of it works without a
// pointer. Does not: decide which banner is shown. The session does, for all pages alike.
import { command, isScreen, pageKey } from './commands.js';
import { refresh } from './live.js';

const lifetime = 10000;
const facts = document.body.dataset;
let chosen = null;
let top = null;

function items() { return [...document.querySelectorAll('.carousel > ul > li')]; }

function show() {
  const all = items();
  if (all.length === 0) { chosen = top = null; return; }
  if (all[0].dataset.key !== top) { top = all[0].dataset.key; chosen = top; }
  let place = all.findIndex((item) => item.dataset.key === chosen);
  if (place < 0) place = 0;
  chosen = all[place].dataset.key;
  all.forEach((item, index) => { item.hidden = index !== place; });
  const count = document.querySelector('.carousel [data-count]');
  const text = `${place + 1} of ${all.length}`;
  if (count && count.textContent !== text) count.textContent = text;
}

function step(by) {
  const all = items();
  if (all.length === 0) return;
  const place = all.findIndex((item) => item.dataset.key === chosen);
  chosen = all[(place + by + all.length) % all.length].dataset.key;
  show();
  const count = document.querySelector('.carousel [data-count]');
  count?.setAttribute('aria-live', 'polite');
}

// MARK: threshold banner

// The session knows whether a banner is shown, over or put away; what nobody but a page that is the phone can know is how long it was on the screen. From
// one page to the next its time goes on.
const kept = `toast-${facts.session}`;
let spent = { key: '', ms: 0 };
let countedTo = performance.now();
let isTelling = false;

function toast() {
  const now = performance.now();
  const passed = document.hidden ? 0 : now - countedTo;
  countedTo = now;
  if (!isScreen) return;
  const banner = document.querySelector('[data-toast]');
  if (!banner) { spent = { key: '', ms: 0 }; return; }
  if (banner.dataset.toast === spent.key) {
    spent.ms += passed;
  } else {
    spent = { key: banner.dataset.toast, ms: 0 };
    try {
      const before = JSON.parse(sessionStorage.getItem(kept));
      if (before?.key === spent.key) spent.ms = before.ms;
    } catch { /* Private windows keep nothing. */ }
  }
  try { sessionStorage.setItem(kept, JSON.stringify(spent)); } catch { /* Nor here. */ }
  if (spent.ms < lifetime || isTelling) return;
  isTelling = true;
  command('bannerShown', { alert: banner.dataset.alert, episode: Number(banner.dataset.episode), page: pageKey }).then(() => {
    spent = { key: '', ms: 0 };
    try { sessionStorage.removeItem(kept); } catch { /* Nor here. */ }
    refresh();
  }).finally(() => { setTimeout(() => { isTelling = false; }, 2000); });
}

/** What has the focus scrolls clear of the banner, however many lines that has; so does the end of the page. */
function makeRoom() {
  const banners = document.querySelector('.toasts');
  if (!banners) return;
  const around = 28;
  new ResizeObserver(() => {
    document.documentElement.style.setProperty('--toasts', `${banners.offsetHeight + around}px`);
  }).observe(banners);
}

/** After each change of the page. */
export function afterSwap() { show(); toast(); }

export function startBanners() {
  if (!facts.session) return;
  afterSwap();
  makeRoom();
  setInterval(toast, 250);
  document.addEventListener('click', (event) => {
    const button = event.target.closest?.('[data-step]');
    if (button) step(Number(button.dataset.step));
  });
  document.addEventListener('visibilitychange', () => { countedTo = performance.now(); });
}
