// The browser's own notifications. Guarantees: asked for when the reader presses the button or sets a first threshold, never by itself; shown only by a page that is the phone, while it is hidden (a test
// always); one an alert of a session (a later one takes its place, and it goes when the alert is over); what was shown is confirmed to the session; a tap
// opens what the alert is about. What the server rings for, as that the session is frozen, is shown as well.
import { clockOf } from './times.js';
import { words as inWords } from './words.js';
import { command, isScreen, pageKey } from './commands.js';

const facts = document.body.dataset;
const can = () => facts.canNotify === '1' && 'Notification' in window;

const pages = {
  pump: () => `/sessions/${facts.session}/pump`, cgm: () => `/sessions/${facts.session}/cgm`,
  environment: () => `/subjects/${facts.session}/environment`, home: () => `/sessions/${facts.session}`,
};

const notes = new Map();

/** What it was about is over. */
export function withdraw(alert) {
  const key = alert.reason === 'preview' ? `${alert.code}/preview` : alert.code;
  notes.get(key)?.close();
  notes.delete(key);
  if (key !== alert.code) return;
  // A preview of what is cleared or replaced is over, too.
  notes.get(`${key}/preview`)?.close();
  notes.delete(`${key}/preview`);
}

/** On a ward, of any of its people: who looks after them is told, and nobody's phone says that it was. */
export function notifyOfWard(ring) {
  if (!can() || Notification.permission !== 'granted' || !document.hidden) return;
  const words = { safetyCritical: 'Urgent', actionable: 'Action needed', informational: 'Information' };
  const note = new Notification(`${words[ring.severity] || 'Alert'} · ${ring.name}`, {
    body: [inWords(ring.message_parts, ring.message || ''), ring.action, clockOf(ring.at) && `(${clockOf(ring.at)})`].filter(Boolean).join(' '),
    tag: `${ring.session}/${ring.code}`, renotify: true, requireInteraction: ring.severity === 'safetyCritical',
  });
  note.onclick = () => { window.focus(); location.href = `/sessions/${encodeURIComponent(ring.session)}`; note.close(); };
}

export function notify(alert) {
  if (!can() || Notification.permission !== 'granted' || !isScreen || !(document.hidden || alert.reason === 'test')) return;
  const words = { safetyCritical: 'Urgent', actionable: 'Action needed', informational: 'Information' };
  const shows = { test: 'Test', preview: 'Preview' };
  const note = new Notification(`${shows[alert.reason] || words[alert.severity] || 'Alert'} · ${facts.name || 'Islet'}`, {
    body: [inWords(alert.message_parts, alert.message || ''), alert.action, clockOf(alert.at) && `(${clockOf(alert.at)})`].filter(Boolean).join(' '), tag: `${facts.session}/${alert.code}${shows[alert.reason] ? `/${alert.reason}` : ''}`, renotify: true,
    requireInteraction: alert.severity === 'safetyCritical',
  });
  const key = shows[alert.reason] ? `${alert.code}/${alert.reason}` : alert.code;
  notes.get(key)?.close();
  notes.set(key, note);
  command('told', { alert: alert.code, page: pageKey });
  note.onclick = () => {
    window.focus();
    fetch(`/api/sessions/${encodeURIComponent(facts.session)}/commands`, {
      method: 'POST', keepalive: true, headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ command: 'tap', key: crypto.randomUUID(), alert: alert.code }),
    }).catch(() => {});
    location.href = (pages[alert.route] || pages.home)();
    note.close();
  };
}

const ofServer = 'of the server';

/** The server rings for the session, which can't itself: shown in front too. It goes when somebody has seen it, or it is over. */
export function notifyOfServer(ring) {
  if (!can() || Notification.permission !== 'granted' || !isScreen) return;
  thaw();
  const words = { safetyCritical: 'Urgent', actionable: 'Action needed' };
  const note = new Notification(`${words[ring.severity] || 'Alert'} · ${facts.name || 'Islet'}`, {
    body: `${inWords(ring.message_parts, ring.message)} ${ring.action}`, tag: `${facts.session}/${ring.code}`, renotify: true, requireInteraction: true,
  });
  notes.set(ofServer, note);
  note.onclick = () => { window.focus(); note.close(); };
}

export function thaw() {
  notes.get(ofServer)?.close();
  notes.delete(ofServer);
}

function write() {
  const words = { granted: 'Allowed.', denied: 'Your browser refuses them: change that in its settings for this site.', default: '' };
  for (const place of document.querySelectorAll('[data-notify-state]')) place.textContent = can() ? words[Notification.permission] ?? '' : '';
  for (const button of document.querySelectorAll('button[data-notify]')) button.hidden = !can() || Notification.permission !== 'default';
}

/** Once, while the browser has no answer; to be called when the reader has pressed something. */
export function askPermission() {
  if (!can() || facts.look || Notification.permission !== 'default') return;
  Notification.requestPermission().then(write, () => {});
}

export function startNotify() {
  if (!facts.session && facts.page !== 'ward') return;
  write();
  document.addEventListener('click', (event) => {
    if (!event.target.closest?.('button[data-notify]') || !can()) return;
    askPermission();
  });
}
