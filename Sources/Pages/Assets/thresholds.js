export function startThresholds() {}
