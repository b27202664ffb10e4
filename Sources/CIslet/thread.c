// Linux has a call for it that Swift does not see.

#define _GNU_SOURCE
#include "thread.h"

#include <pthread.h>

void islet_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }
