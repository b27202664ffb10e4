// The page's entry. Guarantees: without it the page shows what was known when it was loaded; every part it starts works by itself, so that one
// that fails takes no other with it. Keeps the reader's choices (units, being the phone) as cookies of this site.
import { startTimes } from './times.js';
import { startCommands } from './commands.js';
import { startBanners } from './banners.js';
import { startNotify } from './notify.js';
import { startThresholds } from './thresholds.js';
import { startPast } from './past.js';
import { startLive } from './live.js';
import { startSound } from './sound.js';
import { startWard } from './ward.js';
import { startChart } from './chart.js';

for (const start of [startTimes, startBanners, startCommands, startThresholds, startNotify, startPast, startSound, startWard, startChart, startLive]) {
  try { start(); } catch (error) { console.error(error); }
}

for (const field of document.querySelectorAll('[data-cookie]')) {
  field.addEventListener('change', () => {
    const value = field.type === 'checkbox' ? (field.checked ? field.value : '') : field.value;
    const age = value === '' ? 0 : 31536000;
    document.cookie = `${field.dataset.cookie}=${value}; path=/; max-age=${age}; SameSite=Strict`;
    location.reload();
  });
}
