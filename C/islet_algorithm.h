// The rows of islet-step/1 in C: written by `islet algorithm fields --header`. Absent: NaN, ISLET_ABSENT.
#ifndef ISLET_ALGORITHM_H
#define ISLET_ALGORITHM_H

#include <stdint.h>

#define ISLET_ABSENT INT64_MIN
enum islet_kind { ISLET_BEGIN = 1, ISLET_HISTORY = 2, ISLET_STEP = 3, ISLET_DOSE = 4, ISLET_FAIL = 5, ISLET_END = 6, ISLET_BYE = 7, ISLET_OWN = 8 };
enum islet_flags {
    ISLET_PUMP_AVAILABLE = 1, ISLET_OPEN_LOOP = 2, ISLET_PUMP_BASAL_KNOWN = 4, ISLET_HAS_HISTORY = 8, ISLET_UNDO = 16
};

// A frame: this head, its rows, and the CRC-32 of both as a uint32_t.
struct islet_head {
    char magic[4];
    uint32_t kind, rows, bytes;
};

struct islet_begin {
    int64_t handle;  // whom it is about: 0 in `alone`, the slot in `together`
    int64_t seed;  // of this person's own luck, from the study's streams; 64 bits
    int64_t flags;  // 1: the state goes on, only settings have changed
    double weight;  // kg: body weight
    double basal;  // U/h: programmed basal rate
    double cr;  // g/U: carbohydrate ratio
    double cf;  // mg/dL/U: correction factor
    double tdi;  // U: total daily insulin
    double maximum_bolus;  // U: the most that one request may be
    double target;  // mg/dL: the nominal target
    char subject0[8];  // UTF-8: bytes 0 to 7 of the subject's name
    char subject1[8];  // UTF-8: bytes 8 to 15 of the subject's name
    char subject2[8];  // UTF-8: bytes 16 to 23 of the subject's name
    char subject3[8];  // UTF-8: bytes 24 to 31 of the subject's name
    char subject4[8];  // UTF-8: bytes 32 to 39 of the subject's name
    char subject5[8];  // UTF-8: bytes 40 to 47 of the subject's name
    char subject6[8];  // UTF-8: bytes 48 to 55 of the subject's name
    char subject7[8];  // UTF-8: bytes 56 to 63 of the subject's name
};

struct islet_step {
    int64_t handle;  // whom it is about
    int64_t step;  // steps run before this one, on the five-minute grid
    int64_t flags;  // 1 pump available, 2 open loop, 4 pump basal known, 8 `history` went before, 16 undo: the last answer was not used, go back to the state before it
    int64_t now;  // ns: this step's instant
    int64_t first_step;  // ns: when step 0 ran
    int64_t last_step;  // ns: when the step before ran
    int64_t last_cgm;  // ns: of the last reading that a step used
    int64_t cgm_time;  // ns: when `cgm` was measured
    double cgm;  // mg/dL: a fresh reading that no step has used
    int64_t bolus_id;  // the last request's id; -1 where nothing is known of one
    int64_t bolus_at;  // ns: when it was requested
    double bolus_requested;  // U: what it asked for
    double bolus_delivered;  // U: what was given
    int64_t bolus_cut_by;  // 0 nobody, 1 the person, 2 the pump ended it before its time
    int64_t shortfall_step;  // the step whose basal and correction never came; -1 for none
    double shortfall;  // U: how much of them
    int64_t dropped_step;  // the step whose meal insulin was given up; -1 for none
    double dropped;  // U: how much of it
    double dropped_manual;  // U: of `dropped`, what was asked for by hand
    double pump_basal;  // U: what the pump gave by itself since the last good step
    int64_t pump_basal_since;  // ns: since when it flowed
    double pump_basal_withheld;  // U: of it, what a zero withheld and this step's request holds beside the dose
    double target;  // mg/dL: the nominal target
    double temporary_target;  // mg/dL: a target for now
    double basal_multiplier;  // 1, unless a temporary basal runs
    int64_t multiplier_steps;  // steps left of it
    double finger_stick;  // mg/dL: a finger-stick value
    double calibration;  // mg/dL: a value to calibrate with
    double manual_bolus;  // U: insulin that the person asks for by hand
    double meal;  // g: carbohydrate of an announced meal
    int64_t meal_at;  // ns: when it is eaten
    double custom0;  // a number of one's own, by its place in `hello`
    double custom1;  // a number of one's own, by its place in `hello`
    double custom2;  // a number of one's own, by its place in `hello`
    double custom3;  // a number of one's own, by its place in `hello`
    double custom4;  // a number of one's own, by its place in `hello`
    double custom5;  // a number of one's own, by its place in `hello`
};

struct islet_history {
    int64_t handle;  // whom it is about
    int64_t complete;  // ns: from when on the hours before are known
    int64_t since;  // ns: it flowed from here
    int64_t until;  // ns: to here
    double amount;  // U: how much
    double user;  // U: of it, what the person had asked for
    double manual;  // U: of that, by hand
};

struct islet_dose {
    int64_t handle;  // whom it is about: the step's
    int64_t step;  // the step's own number
    double basal;  // U: basal insulin of this step; 0 where the pump's programmed basal runs
    double correction;  // U: beside it, for glucose
    double meal;  // U: what the person waits for: meals, manual boluses
    double glucagon;  // U: recorded, never delivered
    int64_t flags;  // 1: it gives up control itself
    double forecast;  // mg/dL: glucose `forecastMinutes` after this reading
};

struct islet_own {
    int64_t handle;  // whom it is about: the step's
    int64_t step;  // the step's own number
    double own0;  // a number of one's own, by its place in `ready`
    double own1;  // a number of one's own, by its place in `ready`
    double own2;  // a number of one's own, by its place in `ready`
    double own3;  // a number of one's own, by its place in `ready`
    double own4;  // a number of one's own, by its place in `ready`
    double own5;  // a number of one's own, by its place in `ready`
    double own6;  // a number of one's own, by its place in `ready`
    double own7;  // a number of one's own, by its place in `ready`
};

// For `library:`. What a shared library answers `islet_algorithm()` with; its state is a block of bytes that Islet holds, zero where it begins.
struct islet_parameter {
    const char *name, *unit, *meaning;
    double least, most, value;
};
struct islet_algorithm {
    const char *name;
    int64_t version;
    int32_t gives_basal, parameter_count;
    double forecast_minutes;  // 0: it makes no forecasts
    uint64_t state_bytes;
    const struct islet_parameter *parameters;
    // Fills `dose`, whose handle and step are set; returns NULL, or why the step fails.
    const char *(*step)(
        const double *parameters, const struct islet_begin *person, const struct islet_step *row,
        const struct islet_history *history, int32_t history_rows, void *state, struct islet_dose *dose);
};
const struct islet_algorithm *islet_algorithm(void);

// Optional: numbers of its own, for alert rules, as `own.NAME`. A listener doses nothing. `fill` is called after `step`, with the state that it left;
// all eight are NaN before, which is absent.
struct islet_number {
    const char *name, *unit, *meaning;
};
struct islet_numbers {
    int32_t is_listener, count;
    const struct islet_number *numbers;
    void (*fill)(
        const double *parameters, const struct islet_begin *person, const struct islet_step *row, const void *state,
        double own[8]);
};
const struct islet_numbers *islet_numbers(void);

#endif
