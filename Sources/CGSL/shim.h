// The GSL that Islet uses, and nothing else.
//
// GSL hands out its stepper and generator types as global pointers. Swift 6 reads a C global as shared
// mutable state, so the pointers leave this header through functions only.
#ifndef ISLET_CGSL_SHIM_H
#define ISLET_CGSL_SHIM_H

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <gsl/gsl_version.h>
#include <stdint.h>

static inline const gsl_odeiv2_step_type *islet_step_rkck(void) { return gsl_odeiv2_step_rkck; }
static inline const gsl_odeiv2_step_type *islet_step_rkf45(void) { return gsl_odeiv2_step_rkf45; }
static inline const gsl_odeiv2_step_type *islet_step_rk8pd(void) { return gsl_odeiv2_step_rk8pd; }

// A gsl_rng whose bits come from elsewhere. `next` gives 64 fresh bits; 32-bit draws take the upper half,
// doubles the upper 53. Seeding is the source's business, so `set` does nothing.
typedef struct {
    uint64_t (*next)(void *context);
    void *context;
} islet_rng_source;

static inline uint64_t islet_rng_bits(void *state) {
    islet_rng_source *source = (islet_rng_source *)state;
    return source->next(source->context);
}

static inline void islet_rng_set(void *state, unsigned long int seed) {
    (void)state;
    (void)seed;
}

static inline unsigned long int islet_rng_get(void *state) { return islet_rng_bits(state) >> 32; }

static inline double islet_rng_get_double(void *state) {
    return (double)(islet_rng_bits(state) >> 11) * 0x1.0p-53;
}

static inline const gsl_rng_type *islet_rng_type(void) {
    static const gsl_rng_type type = {
        "islet", 0xffffffffUL, 0, sizeof(islet_rng_source), islet_rng_set, islet_rng_get, islet_rng_get_double};
    return &type;
}

static inline const char *islet_gsl_version(void) { return gsl_version; }

#endif
