#ifndef ISLET_CHILD_H
#define ISLET_CHILD_H

/// Starts a program, looked up in PATH, in a process group of its own, with no descriptor but its standard ones.
/// - words, variables: end with NULL.
/// - wait_milliseconds: after which a call on `talk` gives up and says EAGAIN.
/// - child, talk, error: the process, its standard input and output, and its standard error, which never blocks.
/// Returns an error number, or 0.
int islet_spawn(
    char *const words[], char *const variables[], int wait_milliseconds, int *child, int *talk, int *error);

#endif
