// Who rings adds to a count and wakes those who sleep on its lower half. No step of either keeps a third one out: a thread that stands still amid a ring, or amid a
// wait, delays nobody.

#define _GNU_SOURCE
#include "thread.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint32_t *lower_half(struct islet_bell *bell) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return (uint32_t *)&bell->count + 1;
#else
    return (uint32_t *)&bell->count;
#endif
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

uint64_t islet_bell_count(struct islet_bell *bell) { return __atomic_load_n(&bell->count, __ATOMIC_SEQ_CST); }

int32_t islet_bell_waiting(struct islet_bell *bell) { return __atomic_load_n(&bell->waiting, __ATOMIC_SEQ_CST); }

void islet_bell_ring(struct islet_bell *bell) {
    __atomic_fetch_add(&bell->count, 1, __ATOMIC_SEQ_CST);
    // Who counts as waiting from here on sees the new count before it sleeps.
    if (islet_bell_waiting(bell) > 0) {
        syscall(SYS_futex, lower_half(bell), FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    }
}

void islet_bell_wait(struct islet_bell *bell, uint64_t heard, int64_t nanoseconds) {
    int64_t begun = now();
    __atomic_fetch_add(&bell->waiting, 1, __ATOMIC_SEQ_CST);
    while (islet_bell_count(bell) == heard) {
        int64_t left = nanoseconds - (now() - begun);
        if (left <= 0) break;
        struct timespec time = { left / 1000000000, left % 1000000000 };
        // It sleeps only while the lower half is the same, which it is by chance once in four thousand million rings.
        long woken = syscall(SYS_futex, lower_half(bell), FUTEX_WAIT_PRIVATE, (uint32_t)heard, &time, NULL, 0);
        if (woken != 0 && errno != EINTR && errno != EAGAIN) break;
    }
    __atomic_fetch_sub(&bell->waiting, 1, __ATOMIC_SEQ_CST);
}
