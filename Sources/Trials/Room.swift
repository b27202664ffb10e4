// Trials
