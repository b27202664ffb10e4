// The slider into the past. Guarantees: slider and hours say the same moment; without this script the slider alone works.
export function startPast() {
  const form = document.querySelector('form[data-past]');
  if (!form) return;
  const slider = form.querySelector('[name="t"]');
  const hours = form.querySelector('input[type="number"]');
  const present = Number(form.dataset.present);
  slider.addEventListener('input', () => {
    hours.value = ((present - Number(slider.value)) / 3600).toFixed(2);
    slider.setAttribute('aria-valuetext', `${hours.value} hours before now`);
  });
  hours.addEventListener('input', () => {
    const value = Math.round(present - Number(hours.value) * 3600);
    if (Number.isFinite(value)) slider.value = String(Math.max(0, Math.min(present, value)));
  });
}
