// Puts a fragment's new markup in place of the old. Guarantees: changes only what differs; keeps focus, selection, scroll, open <details>, half-typed
// input and dragged sliders; a fragment that holds the focus in a field that is typed in or dragged is not swapped, but its controls are disabled as soon as
// the session says so. Elements with data-keep keep what scripts wrote into them. Markup comes from this site's server only.

const typed = (e) => e && (e.tagName === 'TEXTAREA' || e.tagName === 'SELECT'
  || (e.tagName === 'INPUT' && !['checkbox', 'radio', 'button', 'submit', 'hidden'].includes(e.type)));

// Fields that the reader has changed and not sent yet.
const changed = (e) => e.type === 'checkbox' || e.type === 'radio' ? e.checked !== e.defaultChecked
  : e.tagName === 'SELECT' ? [...e.options].some((o) => o.selected !== o.defaultSelected)
    : e.value !== e.defaultValue;

const last = new Map();

/** Whether it was swapped: false where it is the same; null where the reader is in the middle of something, and it is to be said again. */
export function swap(name, html) {
  if (last.get(name) === html) return false;
  const target = document.querySelector(`[data-fragment="${CSS.escape(name)}"]`);
  if (!target) return false;
  const next = document.createElement('template');
  next.innerHTML = html;
  const focus = document.activeElement;
  if (typed(focus) && target.contains(focus)) {
    disable(target, next.content);
    return null;
  }
  last.set(name, html);
  const hadFocus = target.contains(focus);
  morph(target, next.content);
  // What was pressed is gone: the next thing that can be done here, or the page.
  if (hadFocus && !(target.contains(document.activeElement) && document.activeElement.isConnected)) {
    const place = target.querySelector('button:not(:disabled):not([hidden] *),a[href]:not([hidden] *),summary') ?? document.getElementById('main');
    place?.focus({ preventScroll: true });
  }
  return true;
}

export function forget() { last.clear(); }

function disable(now, next) {
  for (const control of now.querySelectorAll('input,select,textarea,button')) {
    const twin = control.id ? next.querySelector(`#${CSS.escape(control.id)}`) : null;
    const form = control.form && next.querySelector(`[data-command="${CSS.escape(control.form.dataset.command || '')}"]`);
    const other = twin || (form && form.querySelector(control.tagName));
    if (other) control.disabled = other.disabled;
  }
}

const key = (node) => node.nodeType !== 1 ? null : node.id || (node.dataset && node.dataset.key) || null;
const alike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && key(a) === key(b)
  && (a.nodeType !== 1 || (a.dataset?.command ?? '') === (b.dataset?.command ?? ''));

function morph(now, next) {
  let here = now.firstChild;
  for (const wanted of [...next.childNodes]) {
    let found = here;
    if (!found || !alike(found, wanted)) {
      found = null;
      // A part with a name may have moved.
      for (let other = here; other; other = other.nextSibling) {
        if (alike(other, wanted) && (key(wanted) !== null || other === here)) { found = other; break; }
      }
    }
    if (!found) {
      now.insertBefore(wanted, here);
      continue;
    }
    if (found !== here) now.insertBefore(found, here);
    take(found, wanted);
    here = found.nextSibling;
  }
  while (here) {
    const gone = here;
    here = here.nextSibling;
    gone.remove();
  }
}

function take(now, next) {
  if (now.nodeType !== 1) {
    if (now.nodeValue !== next.nodeValue) now.nodeValue = next.nodeValue;
    return;
  }
  if (now.hasAttribute('data-keep')) return;
  if (now.isEqualNode(next) && !('value' in now)) return;
  const isField = ['INPUT', 'SELECT', 'TEXTAREA'].includes(now.nodeName);
  const isOurs = isField && changed(now);
  for (const { name } of [...now.attributes]) {
    if (!next.hasAttribute(name) && !(name === 'open' && now.nodeName === 'DETAILS')) now.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) {
    if (name === 'open' && now.nodeName === 'DETAILS') continue;
    if (isOurs && (name === 'value' || name === 'checked')) continue;
    if (now.getAttribute(name) !== value) now.setAttribute(name, value);
  }
  if (isField && !isOurs && now.nodeName === 'INPUT') {
    if (now.type === 'checkbox' || now.type === 'radio') now.checked = next.defaultChecked;
    else if (now.value !== next.defaultValue) now.value = next.defaultValue;
  }
  if (now.nodeName === 'SELECT' && isOurs) return;
  if (now.nodeName === 'TEXTAREA') return;
  morph(now, next);
}
