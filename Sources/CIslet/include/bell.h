// A count that threads wait for, without a lock.
//
// In C, because Linux's futex is a call that Swift does not see.

#ifndef ISLET_BELL_H
#define ISLET_BELL_H

#include <stdint.h>

/// All 0: one that was never rung. What is in it is bell.c's alone.
struct islet_bell {
    uint64_t count;
    int32_t waiting;
};

/// How often it was rung.
uint64_t islet_bell_count(struct islet_bell *bell);
void islet_bell_ring(struct islet_bell *bell);

/// Returns when it has been rung since the count was `heard`, or after so many nanoseconds.
void islet_bell_wait(struct islet_bell *bell, uint64_t heard, int64_t nanoseconds);

#endif
