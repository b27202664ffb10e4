// The browser's own notifications. Guarantees: asked for when the reader presses the button, never by itself; shown only while the page is hidden; one an alert (a later one takes
// its place, and it goes when the alert is over); a tap opens what the alert is about.
import { clockOf } from './times.js';
import { words as inWords } from './words.js';

const facts = document.body.dataset;
const can = () => facts.canNotify === '1' && 'Notification' in window;

const pages = {
  pump: () => `/sessions/${facts.session}/pump`, cgm: () => `/sessions/${facts.session}/cgm`,
  environment: () => `/subjects/${facts.session}/environment`, home: () => `/sessions/${facts.session}`,
};

const notes = new Map();

/** What it was about is over. */
export function withdraw(code) {
  notes.get(code)?.close();
  notes.delete(code);
}

export function notify(alert) {
  if (!can() || Notification.permission !== 'granted' || !document.hidden || facts.look) return;
  const words = { safetyCritical: 'Urgent', actionable: 'Action needed', informational: 'Information' };
  const note = new Notification(`${words[alert.severity] || 'Alert'} · ${facts.name || 'Islet'}`, {
    body: [inWords(alert.message || ''), alert.action, clockOf(alert.at) && `(${clockOf(alert.at)})`].filter(Boolean).join(' '), tag: alert.code, renotify: true,
    requireInteraction: alert.severity === 'safetyCritical',
  });
  notes.get(alert.code)?.close();
  notes.set(alert.code, note);
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

function write() {
  const words = { granted: 'Allowed.', denied: 'Your browser refuses them: change that in its settings for this site.', default: '' };
  for (const place of document.querySelectorAll('[data-notify-state]')) place.textContent = can() ? words[Notification.permission] ?? '' : '';
  for (const button of document.querySelectorAll('button[data-notify]')) button.hidden = !can() || Notification.permission !== 'default';
}

export function startNotify() {
  if (!facts.session) return;
  write();
  document.addEventListener('click', async (event) => {
    if (!event.target.closest?.('button[data-notify]') || !can()) return;
    await Notification.requestPermission();
    write();
  });
}
