// Sends what the reader does. Guarantees: each command has a key of its own, and is sent again under the same key while no answer came, so that it is carried out once; the
// answer stands in the form (`role="status"`), a refusal with its reason until the next try; what may have been done is never called refused; what the form says goes in the units of the API
// (`data-factor`). The visibility of a page that is the phone is the app's foreground and background, said anew every few seconds while it is looked at; other pages look.
import { refresh } from './live.js';
import { clockText } from './times.js';
import { words } from './words.js';

const facts = document.body.dataset;
// As the server's table of commands has them.
const numbers = new Set((facts.numbers ?? '').split(' '));
const base = (id = facts.session) => `/api/sessions/${encodeURIComponent(id)}`;
// Of a ward's page, whom a control is about.
const sessionOf = (element) => element.closest('[data-session]')?.dataset.session ?? facts.session;

function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return [...bytes].map((b) => b.toString(16).padStart(2, '0')).join('');
}

/** This page, as one of those that show the session's app. */
export const pageKey = newKey();
/** Whether it is one. */
export const isScreen = Boolean(facts.session) && Boolean(facts.phone) && !facts.readonly && facts.page !== 'past' && facts.page !== 'beside';
let told = null;

/** Says whether the app is in front: what is looked at is. Said anew after a server was started anew. */
export function tellScreen(isShown = document.visibilityState === 'visible', again = false) {
  if (!isScreen || (told === isShown && !again)) return;
  told = isShown;
  const body = JSON.stringify({ command: isShown ? 'foreground' : 'background', key: newKey(), page: pageKey });
  fetch(`${base()}/commands`, { method: 'POST', keepalive: true, headers: { 'content-type': 'application/json' }, body }).catch(() => { told = null; });
}

const pauseFor = (ms) => new Promise((done) => { setTimeout(done, ms); });

// How long it is asked what became of an act that may have been done, ms.
const patience = 60000;

/** Whether the server may have done it though it says no such thing. Where it has done nothing its own answer says why; what comes in its place says nothing. */
const mayBeDone = (status, said) => status === 0 || said?.code === 'unanswered'
  || (status >= 500 && (![503, 507].includes(status) || typeof said?.error !== 'string'));

/**
 * The answer: {ok, status, body, isUnsure}. Sent again, under the same key, where the connection broke or the server asks for it; where it may have been done already it is asked for up
 * to a minute what became of it. `isUnsure`: some try may have been carried out, and none was answered with that it was.
 */
export async function send(path, body, tries = 4) {
  const until = performance.now() + patience;
  let [isUnsure, broken] = [false, 0];
  for (let attempt = 1; ; attempt += 1) {
    let [answer, said] = [null, {}];
    try {
      answer = await fetch(path, {
        method: 'POST', headers: { 'content-type': 'application/json', accept: 'application/json' }, body: JSON.stringify(body),
      });
      try { said = await answer.json(); } catch { /* An answer without a body. */ }
    } catch { broken += 1; }
    const status = answer?.status ?? 0;
    if (answer?.ok) return { ok: true, status, body: said, isUnsure: false };
    isUnsure ||= mayBeDone(status, said);
    let isAskedAgain = status >= 502 && attempt < tries;
    if (status === 0) isAskedAgain = broken < tries;
    else if (isUnsure && tries > 1) isAskedAgain = status >= 502 || status === 423;
    const pause = Math.max(500 * Math.min(attempt, 6), 1000 * (Number(answer?.headers.get('retry-after')) || 0));
    if (!isAskedAgain || performance.now() + pause > until) return { ok: false, status, body: said, isUnsure };
    await pauseFor(pause);
  }
}

export const reason = (answer) => typeof answer.body?.error === 'string' ? words(answer.body.error_parts, answer.body.error)
  : answer.isUnsure ? 'No answer from the server. Nothing is sure: look whether it happened before you try again.'
    : answer.status === 423 ? 'The session is frozen: nothing was done.'
      : answer.status === 409 ? 'The session refused it.' : `It was not done (${answer.status}).`;

/** Of what was not done: nobody may take it for done, and what may have been done says so, whatever the last answer was. */
export function refusal(answer) {
  if (!answer.isUnsure) return `${answer.body?.code === 'pump-uncertain' ? 'Not sure whether it was done' : 'Refused'}: ${reason(answer)}`;
  // That the session refuses it now is worth knowing; that it may be said again is not so.
  const last = [409, 422].includes(answer.status) ? ` The last answer: ${reason(answer)}` : '';
  return `Not sure whether it was done: no answer says so. Look whether it happened before you try again.${last}`;
}

export function command(name, fields = {}, id = facts.session) {
  return send(`${base(id)}/commands`, { command: name, key: newKey(), ...fields });
}

function fieldsOf(form) {
  const fields = {};
  for (const field of form.elements) {
    if (!field.name || field.disabled || (field.type === 'radio' && !field.checked)) continue;
    if (field.type === 'checkbox') { fields[field.name] = field.checked; continue; }
    if (field.value === '' && !field.required) continue;
    if (!numbers.has(field.name)) { fields[field.name] = field.value; continue; }
    const factor = Number(field.dataset.factor || 1);
    const value = Number(field.value) * factor;
    fields[field.name] = factor === 1 ? value : Math.round(value * 100) / 100;
  }
  return fields;
}

function fieldsOfButton(button) {
  const fields = {};
  for (const name of ['alert', 'episode', 'request', 'units', 'minutes', 'metric']) {
    if (button.dataset[name] !== undefined) fields[name] = numbers.has(name) ? Number(button.dataset[name]) : button.dataset[name];
  }
  if (button.dataset.anyway !== undefined) fields.anyway = true;
  for (const name of (button.dataset.nulls ?? '').split(' ').filter(Boolean)) fields[name] = null;
  return fields;
}

const done = {
  requestBolus: 'Asked for. Confirm it above.', confirmBolus: 'the pump has been asked.', meal: 'Saved.', threshold: 'Saved.',
  quietHours: 'Saved.', subject: 'Saved.', pace: '', preview: 'shown above.',
};

function write(place, text, isBad) {
  if (!place) return;
  place.textContent = '';
  place.classList.toggle('refused', isBad);
  place.textContent = text;
}

// Boluses that the reader does not want now: they are never confirmed, and time out.
const declined = new Set();

export function hideDeclined() {
  for (const panel of document.querySelectorAll('[data-confirm]')) if (declined.has(panel.dataset.confirm)) panel.hidden = true;
}

/** Where the answer to this stands: in its form, or in the page's own line, which no swap takes away. */
const placeOf = (element) => element.closest('form')?.querySelector('.answer') ?? document.getElementById('said');

// What is being sent is not sent twice.
const busy = new WeakSet();

async function act(element, name, fields) {
  const place = placeOf(element);
  if (busy.has(element)) return;
  busy.add(element);
  // A button's name says what the answer is about.
  const about = element.tagName === 'FORM' ? '' : `${element.textContent.trim()}: `;
  write(place, 'Sending…', false);
  const answer = await command(name, fields, sessionOf(element));
  busy.delete(element);
  if (name === 'confirmBolus') {
    // The panel goes; where the bolus was asked for it stands what became of it, until the next try.
    const form = document.querySelector('form[data-command="requestBolus"]');
    write(form?.querySelector('.answer'), answer.ok ? '' : refusal(answer), !answer.ok);
    if (!answer.ok && form?.closest('details')) form.closest('details').open = true;
  }
  if (!answer.ok) {
    write(place, `${about}${refusal(answer)}`, true);
    refresh(true);
    return;
  }
  // What it says is of the session's own time.
  const said = typeof answer.body?.said === 'string' ? answer.body.said.replace(/\b\d\d:\d\d\b/, clockText) : null;
  // What was noted is not given yet where the session says so.
  const note = answer.body?.note;
  if (note && name === 'confirmBolus') write(document.querySelector('form[data-command="requestBolus"] .answer'), `Noted: ${note}.`, true);
  if (note) write(place, `${about}noted: ${note}.`, true);
  else write(place, said ?? (done[name] === undefined ? `${about}done.` : `${about}${done[name]}`), false);
  if (name === 'testAlert') awaitPhone(place, fields.alert, said);
  if (about) setTimeout(() => { if (place.textContent.startsWith(about) && !place.classList.contains('refused')) write(place, '', false); }, 8000);
  if (element.tagName === 'FORM') {
    // The field is done with: what the session says may be shown there again.
    if (element.contains(document.activeElement)) element.querySelector('button[type="submit"]')?.focus();
    for (const option of element.querySelectorAll('option')) option.defaultSelected = option.selected;
    if (!element.hasAttribute('data-on-change') && name !== 'threshold' && name !== 'quietHours') element.reset();
  }
  // The clinical settings are saved with the subject: then the session asks whose the ID is.
  if (name === 'subject' && facts.page === 'settings') command('saveSettings');
  refresh(true);
}

/** Somebody knows what the server rings for: it is silent until that is over, and comes again. */
async function see(button) {
  if (busy.has(button)) return;
  busy.add(button);
  const place = document.getElementById('said');
  const answer = await send(`${base(sessionOf(button))}/seen`, {});
  busy.delete(button);
  // What is over meanwhile needs nobody.
  write(place, answer.ok || answer.status === 409 ? '' : refusal(answer), !answer.ok);
  refresh(true);
}

// Tests that were sent to the phone, and that it has not confirmed.
const tested = new Map();

function awaitPhone(place, alert, said) {
  if (!said?.startsWith('Sent')) return;
  const timer = setTimeout(() => {
    tested.delete(alert);
    write(place, 'The phone has not confirmed it: look whether its browser allows notifications of this site.', true);
  }, 10000);
  tested.set(alert, { place, timer, said });
  if (early.delete(alert)) toldOf(alert);
}

// Confirmed before the test's own answer was there.
const early = new Set();

/** A phone has shown an alert's notification. */
export function toldOf(alert) {
  const test = tested.get(alert);
  if (!test) { early.add(alert); setTimeout(() => early.delete(alert), 5000); return; }
  tested.delete(alert);
  clearTimeout(test.timer);
  write(test.place, test.said.replace('Sent to the phone.', 'It reached the phone.'), false);
}

/** Forms that make a session: from a study, from results, from a past. */
async function make(form) {
  const place = form.querySelector('.answer');
  if (form.dataset.busy) return;
  form.dataset.busy = '1';
  write(place, 'Starting…', false);
  const fields = fieldsOf(form);
  for (const name of ['session', 't']) if (fields[name] !== undefined) fields[name] = Number(fields[name]);
  const answer = await send(form.dataset.post, fields, 1);
  delete form.dataset.busy;
  if (!answer.ok) { write(place, reason(answer), true); return; }
  // What begins a whole ward goes nowhere.
  if (answer.body.id === undefined) { location.href = '/'; return; }
  const id = encodeURIComponent(answer.body.id);
  // Who goes on to the new session would not see what it lacks.
  const lacks = (answer.body.refused ?? []).map((one) => words(one.reason_parts, one.reason));
  if (lacks.length) { write(place, `Started as ${answer.body.id}, without these settings: ${lacks.join('; ')}`, true); return; }
  write(place, 'Started.', false);
  location.href = form.dataset.beside ? `/sessions/${encodeURIComponent(form.dataset.beside)}/beside/${id}` : `/sessions/${id}`;
}

export function startCommands() {
  document.addEventListener('submit', (event) => {
    const form = event.target.closest('form[data-post]');
    if (!form) return;
    event.preventDefault();
    make(form);
  });
  if (!facts.session && facts.page !== 'ward') return;
  document.addEventListener('submit', (event) => {
    const form = event.target.closest('form[data-command]');
    if (!form) return;
    event.preventDefault();
    if (form.dataset.own !== undefined) return;
    act(form, form.dataset.command, fieldsOf(form));
  });
  document.addEventListener('change', (event) => {
    const form = event.target.closest?.('form[data-command][data-on-change]');
    if (form) act(form, form.dataset.command, fieldsOf(form));
  });
  document.addEventListener('click', (event) => {
    const button = event.target.closest?.('button[data-command]');
    if (button && !button.disabled) act(button, button.dataset.command, fieldsOfButton(button));
    const seen = event.target.closest?.('button[data-seen]');
    if (seen) see(seen);
    const later = event.target.closest?.('[data-not-now]');
    if (later) { declined.add(later.dataset.notNow); hideDeclined(); document.querySelector('[data-surface="bolus"] summary')?.focus(); }
    const tap = event.target.closest?.('a[data-tap]');
    if (tap && !facts.readonly) {
      fetch(`${base()}/commands`, {
        method: 'POST', keepalive: true, headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ command: 'tap', key: newKey(), alert: tap.dataset.tap }),
      }).catch(() => {});
    }
  });
  // A link to an act finds it open.
  const openAct = () => { if (location.hash) document.querySelector(`[id="${CSS.escape(location.hash.slice(1))}"] details`)?.setAttribute('open', ''); };
  openAct();
  window.addEventListener('hashchange', openAct);
  if (!isScreen) return;
  tellScreen();
  // Whoever is not heard for ten seconds is not in front any more.
  setInterval(() => { if (document.visibilityState === 'visible') tellScreen(true, true); }, 3000);
  // From one page of a session to another the app stays in front: the next page says so, and the server waits some seconds for it.
  let isMovingOn = false;
  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('a[href]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    const to = new URL(link.href, location.href);
    if (to.origin !== location.origin || !to.pathname.split('/').includes(facts.session)) return;
    isMovingOn = true;
    setTimeout(() => { isMovingOn = false; }, 3000);
  });
  document.addEventListener('visibilitychange', () => { if (!isMovingOn) tellScreen(); });
  window.addEventListener('pagehide', () => { if (!isMovingOn) tellScreen(false); });
  window.addEventListener('pageshow', (event) => { if (event.persisted) tellScreen(); });
  if (facts.page === 'settings') command('openSettings').catch(() => {});
}
