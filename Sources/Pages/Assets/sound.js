// What the sessions ring, heard. Guarantees: one burst of tones a notification, in the order in which they came, urgent ones of ten pulses and others of three (after
// IEC 60601-1-8), none for what only informs; nothing sounds unless the reader has switched it on, and whether it can sound is said. Where sessions go faster than 5
// times real time a burst is one short tone, one a second at most: the worst of that second, and how many there were is written beside it. A lost
// connection has a tone of its own, once and then every 30 s. Does not: decide what rings. Sessions do, by their policies, and the server for one that can't.
const kept = 'islet-sound';
const keptEar = 'islet-listen';
const pulse = 0.15;      // s
const fastest = 5;       // times real time
const second = 1000;     // ms
const lostEvery = 30000; // ms

// Beginnings of the pulses, s; the tone, Hz.
const bursts = {
  safetyCritical: { at: [0, 0.25, 0.5, 0.9, 1.15, 1.9, 2.15, 2.4, 2.8, 3.05], hertz: 880, length: pulse },
  actionable: { at: [0, 0.3, 0.6], hertz: 587, length: pulse },
};
const short = {
  safetyCritical: { at: [0, 0.16, 0.32], hertz: 880, length: 0.09 },
  actionable: { at: [0, 0.2], hertz: 587, length: 0.09 },
};
const lostTone = { at: [0, 0.35], hertz: 330, length: 0.3 };
const shakes = { safetyCritical: [150, 100, 150, 100, 150], actionable: [150] };
const rank = { informational: 0, actionable: 1, safetyCritical: 2 };

let context = null;
let master = null;
let isWanted = false;
let freeAt = 0;          // of the context's clock: what was asked for sounds up to then
let sounding = [];
let lastFast = -Infinity;
let held = null;         // of a second in which something sounded already
let lastLost = -Infinity;
let ear = '';            // whose phone is listened to; '' for all

const read = (key) => { try { return sessionStorage.getItem(key) ?? ''; } catch { return ''; } };
const keep = (key, value) => { try { sessionStorage.setItem(key, value); } catch { /* Private windows keep nothing. */ } };

/** Whether a tone would be heard now. */
export const isOn = () => isWanted && context?.state === 'running';
export const listensAs = () => ear;

function begin() {
  const Make = window.AudioContext ?? window.webkitAudioContext;
  if (context || !Make) return;
  context = new Make();
  master = context.createGain();
  master.gain.value = 0.4;
  master.connect(context.destination);
  context.onstatechange = write;
}

/** Plays a burst when what sounds before it is over. */
function play(burst) {
  const from = Math.max(context.currentTime + 0.02, freeAt);
  for (const at of burst.at) {
    const tone = context.createOscillator();
    const loud = context.createGain();
    tone.type = 'triangle';
    tone.frequency.value = burst.hertz;
    loud.gain.setValueAtTime(0, from + at);
    loud.gain.linearRampToValueAtTime(1, from + at + 0.015);
    loud.gain.setValueAtTime(1, from + at + burst.length - 0.03);
    loud.gain.linearRampToValueAtTime(0, from + at + burst.length);
    tone.connect(loud);
    loud.connect(master);
    tone.start(from + at);
    tone.stop(from + at + burst.length);
    sounding.push(tone);
    tone.onended = () => { sounding = sounding.filter((one) => one !== tone); };
  }
  freeAt = from + burst.at.at(-1) + burst.length + 0.4;
}

function silence() {
  for (const tone of sounding) { try { tone.stop(); } catch { /* It is over. */ } }
  sounding = [];
  freeAt = 0;
  clearTimeout(held?.timer);
  held = null;
}

function sound(severity, patterns) {
  play(patterns[severity]);
  // Before anybody has touched the page a browser refuses, and says so.
  if (navigator.userActivation?.hasBeenActive !== false) navigator.vibrate?.(shakes[severity]);
}

/**
 * A session's notification, or what the server rings for it. Whether it sounds.
 * @param {{session: string, severity: string, pace?: string}} ring
 */
export function ring(ring) {
  if (ear && ring.session !== ear) return false;
  if (!isOn() || !(ring.severity in bursts)) return false;
  const speed = ring.pace === 'max' ? Infinity : Number(ring.pace) || 0;
  if (speed <= fastest) {
    sound(ring.severity, bursts);
    return true;
  }
  const now = performance.now();
  if (!held && now - lastFast >= second) {
    lastFast = now;
    sound(ring.severity, short);
    return true;
  }
  // The rest of this second is one tone, of its worst.
  held ??= { severity: ring.severity, count: 0, timer: setTimeout(release, Math.max(0, lastFast + second - now)) };
  held.count += 1;
  if (rank[ring.severity] > rank[held.severity]) held.severity = ring.severity;
  return false;
}

function release() {
  const { severity, count } = held;
  held = null;
  lastFast = performance.now();
  const place = document.querySelector('[data-counted]');
  if (place) place.textContent = count > 1 ? `${count} rang within a second: one tone for all of them.` : '';
  if (isOn()) sound(severity, short);
}

/** To be called now and then while nobody knows anything. */
export function lost() {
  const now = performance.now();
  if (!isOn() || now - lastLost < lostEvery) return;
  lastLost = now;
  play(lostTone);
}

export function found() { lastLost = -Infinity; }

function write() {
  for (const button of document.querySelectorAll('[data-sound]')) {
    button.setAttribute('aria-pressed', String(isOn()));
    const words = button.querySelector('[data-sound-words]');
    if (words) words.textContent = isOn() ? 'Sound is on' : 'Sound on';
  }
  for (const notice of document.querySelectorAll('[data-muted]')) {
    notice.hidden = isOn();
    const words = notice.querySelector('span:last-child');
    if (words) words.textContent = !(window.AudioContext ?? window.webkitAudioContext) ? 'This browser has no sound.'
      : isWanted ? 'Press once more: the browser waits for it before anything sounds.' : 'Muted: alarms are not heard.';
  }
  document.body.classList.toggle('is-muted', !isOn());
}

export async function toggle() {
  isWanted = !isOn();
  keep(kept, isWanted ? '1' : '');
  if (isWanted) {
    begin();
    await context?.resume?.().catch(() => {});
    // Whoever switches it on hears that it is.
    if (isOn()) play({ at: [0], hertz: 587, length: 0.08 });
  } else {
    silence();
  }
  write();
}

export function startSound() {
  if (!document.querySelector('[data-sound]')) return;
  isWanted = read(kept) === '1';
  if (isWanted) { begin(); context?.resume?.().then(write, () => {}); }
  document.addEventListener('click', (event) => { if (event.target.closest?.('[data-sound]')) toggle(); });
  const choice = document.querySelector('[data-listen]');
  if (choice) {
    choice.value = read(keptEar);
    if (choice.value !== read(keptEar)) choice.value = '';
    ear = choice.value;
    choice.addEventListener('change', () => {
      ear = choice.value;
      keep(keptEar, ear);
      silence();
      document.dispatchEvent(new CustomEvent('islet-listen'));
    });
  }
  write();
}
