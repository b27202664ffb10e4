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

static inline const gsl_odeiv2_step_type *islet_step_rkck(void) { return gsl_odeiv2_step_rkck; }
static inline const gsl_odeiv2_step_type *islet_step_rkf45(void) { return gsl_odeiv2_step_rkf45; }
static inline const gsl_odeiv2_step_type *islet_step_rk8pd(void) { return gsl_odeiv2_step_rk8pd; }

static inline const char *islet_gsl_version(void) { return gsl_version; }

#endif
