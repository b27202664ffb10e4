// libcurl for the programs of a package: the machine's own, found when a server is asked, and linked with nothing.
//
// Foundation's URLSession wants libcurl, and libcurl some thirty libraries that a bare Debian lacks, TLS among them. Only what asks a server of
// somebody else's needs it, so the programs start without it. Islet looks whether it is there before each exchange (`HTTPExchange.lack`): where it is
// not, nothing of this file is called.
//
// Each function hands on what it was called with: five registers, which hold all arguments of these functions (pointers, and integers of at most 64
// bits) by the calling conventions of x86-64 and AArch64 Linux, variadic or not. `URLSession` calls these and no others; another one would fail to link.

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#if !defined(__linux__) || !(defined(__x86_64__) || defined(__aarch64__))
#error "how arguments are passed is known of x86-64 and AArch64 Linux"
#endif

typedef long function(long, long, long, long, long);

static function *found(const char *name) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW);
    function *there = library ? (function *)dlsym(library, name) : NULL;
    if (!there) {
        fprintf(stderr, "%s: Debian has it in libcurl4\n", dlerror());
        exit(69);
    }
    return there;
}

#define FORWARD(name)                                   \
    long name(long a, long b, long c, long d, long e) { \
        static _Atomic(function *) known;               \
        function *there = known;                        \
        if (!there) known = there = found(#name);       \
        return there(a, b, c, d, e);                    \
    }

FORWARD(curl_easy_cleanup)
FORWARD(curl_easy_getinfo)
FORWARD(curl_easy_init)
FORWARD(curl_easy_pause)
FORWARD(curl_easy_setopt)
FORWARD(curl_easy_strerror)
FORWARD(curl_free)
FORWARD(curl_global_init)
FORWARD(curl_multi_add_handle)
FORWARD(curl_multi_assign)
FORWARD(curl_multi_cleanup)
FORWARD(curl_multi_info_read)
FORWARD(curl_multi_init)
FORWARD(curl_multi_remove_handle)
FORWARD(curl_multi_setopt)
FORWARD(curl_multi_socket_action)
FORWARD(curl_slist_append)
FORWARD(curl_slist_free_all)
FORWARD(curl_url)
FORWARD(curl_url_get)
FORWARD(curl_url_set)
FORWARD(curl_version)
FORWARD(curl_version_info)
