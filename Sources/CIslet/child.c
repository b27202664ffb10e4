// A child process in a group of its own, with one socket for standard input and output and a pipe for standard error.

#define _GNU_SOURCE
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int spawn(char *const words[], char *const variables[], int input, int error, pid_t *child) {
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
    posix_spawn_file_actions_adddup2(&actions, input, 1);
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

int islet_spawn(
    char *const words[], char *const variables[], int wait_milliseconds, int *child, int *talk, int *error
) {
    int pair[2], pipes[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) return errno;
    if (pipe2(pipes, O_CLOEXEC)) {
        int code = errno;
        close(pair[0]);
        close(pair[1]);
        return code;
    }
    int code = spawn(words, variables, pair[1], pipes[1], child);
    close(pair[1]);
    close(pipes[1]);
    if (code) {
        close(pair[0]);
        close(pipes[0]);
        return code;
    }
    struct timeval wait = {wait_milliseconds / 1000, (wait_milliseconds % 1000) * 1000};
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    fcntl(pipes[0], F_SETFL, O_NONBLOCK);
    *talk = pair[0];
    *error = pipes[0];
    return 0;
}
