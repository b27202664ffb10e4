#ifndef ISLET_CHILD_H
#define ISLET_CHILD_H

/// Starts a program, looked up in PATH, in a process group of its own, with no descriptor but its standard ones.
/// - words, variables: end with NULL.
/// - child: the process.
/// - input: its standard input, to be written to; never blocks.
/// - output, error: its standard output, which blocks, and its standard error, which does not.
/// Returns an error number, or 0.
int islet_spawn(char *const words[], char *const variables[], int *child, int *input, int *output, int *error);

/// A set of processors, as the kernel has it; of machines with more than 1024 nothing is told.
typedef struct {
    unsigned long long words[16];
} islet_processors;

/// The processors that a thread may run on; 0 is the caller. Returns an error number, or 0.
int islet_get_processors(int thread, islet_processors *set);
int islet_set_processors(int thread, const islet_processors *set);
/// A set of one.
islet_processors islet_one_processor(int processor);
int islet_has_processor(const islet_processors *set, int processor);
int islet_count_processors(const islet_processors *set);
/// Where the caller runs now; below 0 where nobody knows.
int islet_processor_now(void);
/// The caller, as the kernel numbers threads.
int islet_thread_number(void);

#endif
