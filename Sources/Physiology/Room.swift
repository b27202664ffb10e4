// Physiology
