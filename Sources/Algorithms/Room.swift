// Algorithms
