// The carousel of active alerts, and the banner of a threshold. Guarantees: the carousel stays on the alert that the reader stepped to, until a
// more urgent one comes; a threshold's banner stays ten seconds of the reader's own time while the page is in front, and comes anew when they come back,
// unless they put it away; all of it works without a pointer.
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

const store = () => { try { return JSON.parse(sessionStorage.getItem(`toasts-${facts.session}`)) || {}; } catch { return {}; } };
const keep = (all) => { try { sessionStorage.setItem(`toasts-${facts.session}`, JSON.stringify(all)); } catch { /* Private windows keep nothing. */ } };
let countedTo = performance.now();
// A swap hides what is shown for a moment; its time goes on.
let shown = null;

function toast() {
  const now = performance.now();
  const passed = document.hidden ? 0 : now - countedTo;
  countedTo = now;
  const all = store();
  const kept = {};
  let isTaken = false;
  let onScreen = null;
  for (const banner of document.querySelectorAll('[data-toast]')) {
    const mine = all[banner.dataset.toast] ?? { spent: 0 };
    if (banner.dataset.toast === shown) mine.spent += passed;
    // One at a time: the next one's time begins when the first one's is over.
    const isOn = !isTaken && !mine.dismissed && mine.spent < lifetime;
    if (isOn) onScreen = banner.dataset.toast;
    isTaken = isTaken || isOn;
    if (banner.hidden === isOn) banner.hidden = !isOn;
    kept[banner.dataset.toast] = mine;
  }
  shown = onScreen;
  keep(kept);
}

/** After each change of the page. */
export function afterSwap() { show(); toast(); }

export function startBanners() {
  if (!facts.session) return;
  afterSwap();
  setInterval(toast, 250);
  document.addEventListener('click', (event) => {
    const button = event.target.closest?.('[data-step]');
    if (button) step(Number(button.dataset.step));
    const away = event.target.closest?.('[data-toast] button');
    if (away) {
      const banner = away.closest('[data-toast]');
      keep({ ...store(), [banner.dataset.toast]: { spent: lifetime, dismissed: true } });
      banner.hidden = true;
      toast();
    }
  });
  document.addEventListener('visibilitychange', () => {
    countedTo = performance.now();
    if (document.hidden) return;
    const all = store();
    for (const one of Object.values(all)) if (!one.dismissed) one.spent = 0;
    keep(all);
    toast();
  });
}
