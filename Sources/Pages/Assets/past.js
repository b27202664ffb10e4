// The slider into the past. Guarantees: what stands beside it is the moment that it is at, by the session's own clock; without this script the slider alone works.
import { clockText, span } from './times.js';

export function startPast() {
  const form = document.querySelector('form[data-past]');
  if (!form) return;
  const slider = form.querySelector('[name="t"]');
  const words = form.querySelector('[data-past-words]');
  const [present, offset] = [Number(form.dataset.present), Number(form.dataset.clockOffset)];
  const two = (value) => String(value).padStart(2, '0');
  slider.addEventListener('input', () => {
    const seconds = Number(slider.value);
    const day = Math.floor((seconds + offset) / 86400);
    const minutes = Math.floor((((seconds + offset) % 86400) + 86400) % 86400 / 60);
    const text = `day ${day + 1}, ${clockText(`${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`)}, ${span(present - seconds)} before now`;
    words.textContent = text;
    slider.setAttribute('aria-valuetext', text);
  });
}
