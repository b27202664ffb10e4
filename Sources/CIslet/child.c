// A child process in a group of its own, with a pipe for each of its standard descriptors.

#define _GNU_SOURCE
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
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
