#ifndef ISLET_LIBRARY_H
#define ISLET_LIBRARY_H

#include <stdint.h>

/// A parameter that a study may set.
struct islet_parameter {
    const char *name, *unit, *meaning;
    double least, most, value;
};

/// What a shared library answers `islet_algorithm()` with: see C/islet_algorithm.h, of which this is the part that the program reads.
struct islet_algorithm {
    const char *name;
    int64_t version;
    int32_t gives_basal, parameter_count;
    double forecast_minutes;
    uint64_t state_bytes;
    const struct islet_parameter *parameters;
    const char *(*step)(
        const double *parameters, const void *person, const void *row, const void *history, int32_t history_rows,
        void *state, void *dose);
};

/// A number of its own, for alert rules.
struct islet_number {
    const char *name, *unit, *meaning;
};

/// What it answers `islet_numbers()` with, where it has that.
struct islet_numbers {
    int32_t is_listener, count;
    const struct islet_number *numbers;
    void (*fill)(const double *parameters, const void *person, const void *row, const void *state, double *own);
};

#endif
