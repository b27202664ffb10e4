// The algorithm of Python/examples/mine.py in C: cc -O2 -shared -fPIC -I C -o mine.so C/examples/mine.c

#include "islet_algorithm.h"

#include <math.h>
#include <stddef.h>

static const char *step(
    const double *parameters, const struct islet_begin *person, const struct islet_step *row,
    const struct islet_history *history, int32_t history_rows, void *state, struct islet_dose *dose
) {
    (void)history, (void)history_rows, (void)state;
    double rate = person->basal;
    if (!isnan(row->cgm)) rate += parameters[0] * (row->cgm - row->target) / person->cf;
    dose->basal = (rate > 0 ? rate : 0) / 12;
    dose->meal = (isnan(row->meal) ? 0 : row->meal) / person->cr;
    return NULL;
}

static const struct islet_parameter parameters[] = {{"gain", "1/h", "share of a correction an hour", 0, 5, 0.3}};
static const struct islet_algorithm algorithm = {
    .name = "mine-c", .version = 1, .gives_basal = 1, .parameter_count = 1, .parameters = parameters, .step = step};

const struct islet_algorithm *islet_algorithm(void) { return &algorithm; }
