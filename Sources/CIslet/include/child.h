#ifndef ISLET_CHILD_H
#define ISLET_CHILD_H

/// Starts a program, looked up in PATH, in a process group of its own, with no descriptor but its standard ones.
/// - words, variables: end with NULL.
/// - child: the process.
/// - input: its standard input, to be written to; never blocks.
/// - output, error: its standard output, which blocks, and its standard error, which does not.
/// Returns an error number, or 0.
int islet_spawn(char *const words[], char *const variables[], int *child, int *input, int *output, int *error);

#endif
