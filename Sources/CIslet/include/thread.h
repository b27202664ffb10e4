// Which thread this is, what it is called, and a count that threads wait for without a lock.
//
// In C, because Swift has no word for the register that says which it is, and `pthread_self` is a call: a session asks some 16 times a step. Linux's futex is a call that
// Swift does not see.

#ifndef ISLET_THREAD_H
#define ISLET_THREAD_H

#include <stdint.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <pthread.h>
#endif

/// A number of this thread's own while it lives; never 0.
static inline __attribute__((always_inline)) uintptr_t islet_thread(void) {
    // Volatile: code that waits may go on on another thread, and must not remember.
#if defined(__x86_64__)
    uintptr_t self;
    __asm__ volatile("movq %%fs:0, %0" : "=r"(self));
    return self;
#elif defined(__aarch64__)
    uintptr_t self;
    __asm__ volatile("mrs %0, tpidr_el0" : "=r"(self));
    return self;
#else
    return (uintptr_t)pthread_self();
#endif
}

/// What the system's own tools call this thread from here on: up to 15 bytes.
void islet_name_thread(const char *name);

/// All 0: one that was never rung. What is in it is bell.c's alone.
struct islet_bell {
    uint64_t count;
    int32_t waiting;
};

/// How often it was rung.
uint64_t islet_bell_count(struct islet_bell *bell);
/// How many wait.
int32_t islet_bell_waiting(struct islet_bell *bell);
void islet_bell_ring(struct islet_bell *bell);

/// Returns when it has been rung since the count was `heard`, or after so many nanoseconds.
void islet_bell_wait(struct islet_bell *bell, uint64_t heard, int64_t nanoseconds);

#endif
