// Islet's own `pid-insulin-feedback` in C: the same doses to the bit, as a test holds.
// cc -O2 -ffp-contract=off -shared -fPIC -I C -o pid.so C/examples/pid.c -lm
//
// Each formula stands as in Sources/IsletLoop/DosingAlgorithms/PIDInsulinFeedback.swift, in the same order of operations: a product
// and a sum that are made one (`-ffp-contract`) would round otherwise.

#include "islet_algorithm.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { LONGEST_MEMORY = 288 };
static const double STEP_MINUTES = 5, STEPS_PER_HOUR = 12, SUBCUTANEOUS = 0.64935, PLASMA = 0.34128, EFFECTIVE = 0.0093667;

enum parameter {
    KP, TI, TD, INTEGRAL_MIN, INTEGRAL_MAX, LARGEST_BASAL_MULTIPLE, SUSPEND_BELOW, PREDICTION, DERIVATIVE_WEIGHT, MEAL_FEEDBACK,
    PARAMETERS
};

// Zero where a person's state begins.
struct state {
    double integral, slope, last_glucose, last_minute, on_board[3];
    int64_t has_history, has_stepped, last_step;
};

static double least(double x, double y) { return y < x ? y : x; }
static double largest(double x, double y) { return y >= x ? y : x; }
static double minutes(int64_t nanoseconds) { return (double)nanoseconds / 60e9; }

// e to the power of x, from arithmetic alone, as Islet has it.
static double exponential(double x) {
    const double shift = 1.5 * 0x1p52;
    double shifted = x * 0x1.71547652b82fep0 + shift, n = shifted - shift;
    double r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
    double r2 = r * r, r4 = r2 * r2;
    double from2 = (r * (1.0 / 6) + 1.0 / 2) + r2 * (r * (1.0 / 120) + 1.0 / 24);
    double from6 = (r * (1.0 / 5040) + 1.0 / 720) + r2 * (r * (1.0 / 362880) + 1.0 / 40320);
    double from10 = (r * (1.0 / 39916800) + 1.0 / 3628800) + r2 * (r * (1.0 / 6227020800) + 1.0 / 479001600);
    double series = 1 + (r + r2 * (from2 + r4 * (from6 + r4 * from10)));
    uint64_t whole;
    memcpy(&whole, &shifted, 8);
    whole = (whole + 1023) << 52;
    double factor;
    memcpy(&factor, &whole, 8);
    return series * factor;
}

// Three first-order compartments in a row with unit gain, advanced exactly over steps of constant input.
static struct { double a11, a22, a33, a21, a32, a31, b1, b2, b3; } chain;

__attribute__((constructor)) static void make_chain(void) {
    double k1 = 1.0 / 50, k2 = 1.0 / 70, k3 = 1.0 / 55;
    double e1 = exponential(-k1 * STEP_MINUTES), e2 = exponential(-k2 * STEP_MINUTES), e3 = exponential(-k3 * STEP_MINUTES);
    chain.a11 = e1, chain.a22 = e2, chain.a33 = e3;
    chain.a21 = k2 * (e1 - e2) / (k2 - k1);
    chain.a32 = k3 * (e2 - e3) / (k3 - k2);
    chain.a31 = k2 * k3 * (e1 / ((k2 - k1) * (k3 - k1)) + e2 / ((k1 - k2) * (k3 - k2)) + e3 / ((k1 - k3) * (k2 - k3)));
    chain.b1 = 1 - chain.a11;
    chain.b2 = 1 - chain.a21 - chain.a22;
    chain.b3 = 1 - chain.a31 - chain.a32 - chain.a33;
}

static void advance(double x[3], double value) {
    double y1 = chain.a11 * x[0] + chain.b1 * value;
    double y2 = chain.a21 * x[0] + chain.a22 * x[1] + chain.b2 * value;
    double y3 = chain.a31 * x[0] + chain.a32 * x[1] + chain.a33 * x[2] + chain.b3 * value;
    x[0] = y1, x[1] = y2, x[2] = y3;
}

static void take_back(double x[3], double value, int64_t steps) {
    if (steps < 1 || steps > LONGEST_MEMORY) return;
    double y[3] = {0, 0, 0};
    advance(y, value);
    for (int64_t step = 1; step < steps; step++) advance(y, 0);
    for (int place = 0; place < 3; place++) x[place] = x[place] - y[place];
}

static void add(double x[3], double amount, double last_steps) {
    double whole = floor(last_steps);
    double steps = least(largest(1, last_steps - whole >= 0.5 ? whole + 1 : whole), LONGEST_MEMORY);
    double y[3] = {0, 0, 0};
    for (int step = 0; step < (int)steps; step++) advance(y, amount * STEPS_PER_HOUR / steps);
    for (int place = 0; place < 3; place++) x[place] = x[place] + y[place];
}

static double counted(const double *p, double units, double manual) { return p[MEAL_FEEDBACK] * (units - manual) + manual; }

// The hours before, where a state begins in the middle of somebody's day.
static void take_up(
    const double *p, const struct islet_begin *person, const struct islet_step *s, const struct islet_history *history,
    int32_t rows, struct state *state
) {
    double now = minutes(s->now);
    double steps = least(ceil((now - minutes(history->complete)) / STEP_MINUTES), LONGEST_MEMORY);
    for (int back = (int)largest(0, steps); back > 0; back--) {
        double start = now - back * STEP_MINUTES, end = now - (back - 1) * STEP_MINUTES, units = 0;
        for (int32_t row = 0; row < rows; row++) {
            const struct islet_history *given = history + row;
            double since = minutes(given->since), until = minutes(given->until);
            double share = until > since ? largest(0, least(end, until) - largest(start, since)) / (until - since) : 0;
            units += share * (given->amount - given->user + counted(p, given->user, given->manual));
        }
        advance(state->on_board, units * 60 / STEP_MINUTES - person->basal);
    }
}

static double control(
    const double *p, const struct islet_begin *person, const struct islet_step *s, double basal, struct state *state
) {
    double glucose = s->cgm, minute = minutes(s->cgm_time);
    double target = isnan(s->temporary_target) ? s->target : s->temporary_target;
    if (state->has_history && minute > state->last_minute) {
        double slope = (glucose - state->last_glucose) / (minute - state->last_minute);
        state->slope += p[DERIVATIVE_WEIGHT] * (slope - state->slope);
    } else {
        state->slope = 0;
    }
    state->has_history = 1, state->last_glucose = glucose, state->last_minute = minute;
    double gain = p[KP] / person->cf, error = glucose - target;
    double predicted = glucose + least(0, state->slope) * p[PREDICTION];
    int is_low = predicted < p[SUSPEND_BELOW];
    double step = gain * error * STEP_MINUTES / p[TI];
    state->integral = least(largest(state->integral + step, p[INTEGRAL_MIN] * basal), p[INTEGRAL_MAX] * basal);
    if (is_low) state->integral = least(state->integral, 0);
    double pid = gain * error + state->integral + gain * state->slope * p[TD];
    double total = SUBCUTANEOUS + PLASMA + EFFECTIVE;
    double feedback = SUBCUTANEOUS * state->on_board[0] + PLASMA * state->on_board[1] + EFFECTIVE * state->on_board[2];
    if (is_low) return 0;
    return least(largest(basal + (1 + total) * pid - feedback, 0), p[LARGEST_BASAL_MULTIPLE] * basal);
}

static const char *step(
    const double *p, const struct islet_begin *person, const struct islet_step *s, const struct islet_history *history,
    int32_t history_rows, void *block, struct islet_dose *dose
) {
    struct state *state = block;
    double basal = person->basal * s->basal_multiplier;
    double meal = isnan(s->meal) ? 0 : s->meal / person->cr;
    int has_manual = !isnan(s->manual_bolus);
    if (has_manual) meal = meal + s->manual_bolus;
    if (history_rows > 0) take_up(p, person, s, history, history_rows, state);
    if (state->has_stepped) {
        int64_t missed = s->step - state->last_step - 1;
        for (int64_t step = 0; step < (missed < LONGEST_MEMORY ? missed : LONGEST_MEMORY); step++) advance(state->on_board, -basal);
    }
    state->last_step = s->step, state->has_stepped = 1;
    if (!isnan(s->shortfall)) take_back(state->on_board, s->shortfall * STEPS_PER_HOUR, s->step - s->shortfall_step);
    if (!isnan(s->dropped))
        take_back(state->on_board, counted(p, s->dropped, s->dropped_manual) * STEPS_PER_HOUR, s->step - s->dropped_step);
    if (!isnan(s->pump_basal) && s->pump_basal > 0)
        add(state->on_board, s->pump_basal, (minutes(s->now) - minutes(s->pump_basal_since)) / STEP_MINUTES);
    double rate = basal;
    if (!isnan(s->cgm)) {
        int is_sloped = state->has_history && minutes(s->cgm_time) > state->last_minute;
        rate = control(p, person, s, basal, state);
        if (is_sloped && p[PREDICTION] > 0) dose->forecast = largest(0, state->last_glucose + state->slope * p[PREDICTION]);
    } else {
        state->has_history = 0;
    }
    int is_open = (s->flags & ISLET_OPEN_LOOP) != 0;
    double delivered = (s->flags & ISLET_PUMP_AVAILABLE) && !is_open ? rate : 0;
    double by_hand = has_manual ? s->manual_bolus : 0, asked = is_open ? by_hand : meal;
    advance(state->on_board, delivered - basal + counted(p, asked, by_hand) * STEPS_PER_HOUR);
    dose->basal = least(rate, basal) / STEPS_PER_HOUR;
    dose->correction = largest(0, rate - basal) / STEPS_PER_HOUR;
    dose->meal = meal;
    return NULL;
}

static const struct islet_parameter parameters[PARAMETERS] = {
    [KP] = {"kp", "1/h", "the share of a full correction asked for per hour", 0, 5, 0.25},
    [TI] = {"ti", "min", "integral time", 10, 100000, 450},
    [TD] = {"td", "min", "derivative time", 0, 1000, 110},
    [INTEGRAL_MIN] = {"integral_min", "1", "least integral, as a multiple of the basal rate", -5, 0, -0.8},
    [INTEGRAL_MAX] = {"integral_max", "1", "largest integral, as a multiple of the basal rate", 0, 5, 0.5},
    [LARGEST_BASAL_MULTIPLE] = {
        "largest_basal_multiple", "1", "largest rate beside the meal bolus, as a multiple of the basal rate", 1, 10, 3},
    [SUSPEND_BELOW] = {"suspend_below", "mg/dL", "predicted glucose below which nothing is delivered", 60, 200, 105},
    [PREDICTION] = {"prediction", "min", "how far that prediction looks ahead", 0, 120, 45},
    [DERIVATIVE_WEIGHT] = {"derivative_weight", "1", "weight of a new reading in the derivative", 0.01, 1, 0.35},
    [MEAL_FEEDBACK] = {"meal_feedback", "1", "the share of a meal bolus that the feedback counts", 0, 1, 0.25},
};
static const struct islet_algorithm algorithm = {
    .name = "pid", .version = 3, .gives_basal = 1, .forecast_minutes = 45, .state_bytes = sizeof(struct state),
    .parameter_count = PARAMETERS, .parameters = parameters, .step = step};

const struct islet_algorithm *islet_algorithm(void) { return &algorithm; }
