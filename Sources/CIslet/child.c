// A child process in a group of its own, with a pipe for each of its standard descriptors; and which processors threads may run on.

#define _GNU_SOURCE
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <unistd.h>

static int spawn(char *const words[], char *const variables[], int input, int output, int error, pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int code = posix_spawn_file_actions_init(&actions);
    if (code) return code;
    code = posix_spawnattr_init(&attributes);
    if (code) {
        posix_spawn_file_actions_destroy(&actions);
        return code;
    }
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_adddup2(&actions, input, 0);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawn_file_actions_adddup2(&actions, error, 2);
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    code = posix_spawnp(child, words[0], &actions, &attributes, words, variables);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

int islet_spawn(char *const words[], char *const variables[], int *child, int *input, int *output, int *error) {
    int pipes[6] = {-1, -1, -1, -1, -1, -1}, code = 0;
    for (int at = 0; at < 6 && !code; at += 2) {
        if (pipe2(pipes + at, O_CLOEXEC)) code = errno;
    }
    if (!code) code = spawn(words, variables, pipes[0], pipes[3], pipes[5], child);
    for (int at = 0; at < 6; at++) {
        int is_own = at == 1 || at == 2 || at == 4;
        if (pipes[at] >= 0 && (code || !is_own)) close(pipes[at]);
    }
    if (code) return code;
    *input = pipes[1];
    *output = pipes[2];
    *error = pipes[4];
    fcntl(*input, F_SETFL, O_NONBLOCK);
    fcntl(*error, F_SETFL, O_NONBLOCK);
    return 0;
}

_Static_assert(sizeof(islet_processors) == sizeof(cpu_set_t), "a set of processors as the kernel has it");

static cpu_set_t kernel_set(const islet_processors *set) {
    cpu_set_t copy;
    memcpy(&copy, set, sizeof copy);
    return copy;
}

int islet_get_processors(int thread, islet_processors *set) {
    cpu_set_t found;
    CPU_ZERO(&found);
    if (sched_getaffinity(thread, sizeof found, &found)) return errno;
    memcpy(set, &found, sizeof found);
    return 0;
}

int islet_set_processors(int thread, const islet_processors *set) {
    cpu_set_t wanted = kernel_set(set);
    return sched_setaffinity(thread, sizeof wanted, &wanted) ? errno : 0;
}

islet_processors islet_one_processor(int processor) {
    islet_processors set;
    cpu_set_t one;
    CPU_ZERO(&one);
    if (processor >= 0 && processor < CPU_SETSIZE) CPU_SET(processor, &one);
    memcpy(&set, &one, sizeof set);
    return set;
}

int islet_has_processor(const islet_processors *set, int processor) {
    cpu_set_t copy = kernel_set(set);
    return processor >= 0 && processor < CPU_SETSIZE && CPU_ISSET(processor, &copy);
}

int islet_count_processors(const islet_processors *set) {
    cpu_set_t copy = kernel_set(set);
    return CPU_COUNT(&copy);
}

int islet_processor_now(void) { return sched_getcpu(); }

int islet_thread_number(void) { return gettid(); }
