// libcurl, as far as one exchange needs it: this machine's own, opened when a program asks for it.
//
// Guarantees: no program is linked with it, and none needs its headers to be built. Nothing else of here may be called before `islet_curl_load` has said
// true. In C, because functions of libcurl that set and read options are variadic, which Swift can't call. Numbers are those of libcurl.so.4's binary
// interface, under their names there: they don't change.

#ifndef ISLET_CURL_H
#define ISLET_CURL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Whether there is a libcurl.so.4 with all of these functions: 7.68 (2020) and later. To be called once.
bool islet_curl_load(void);

enum islet_curl_option {
    ISLET_CURLOPT_WRITEDATA = 10001,
    ISLET_CURLOPT_URL = 10002,
    ISLET_CURLOPT_COPYPOSTFIELDS = 10165,
    ISLET_CURLOPT_USERAGENT = 10018,
    ISLET_CURLOPT_HTTPHEADER = 10023,
    ISLET_CURLOPT_HEADERDATA = 10029,
    ISLET_CURLOPT_ACCEPT_ENCODING = 10102,
    ISLET_CURLOPT_WRITEFUNCTION = 20011,
    ISLET_CURLOPT_HEADERFUNCTION = 20079,
    ISLET_CURLOPT_POSTFIELDSIZE_LARGE = 30120,
    ISLET_CURLOPT_POST = 47,
    ISLET_CURLOPT_NETRC = 51,
    ISLET_CURLOPT_FOLLOWLOCATION = 52,
    ISLET_CURLOPT_SSL_VERIFYPEER = 64,
    ISLET_CURLOPT_FRESH_CONNECT = 74,
    ISLET_CURLOPT_FORBID_REUSE = 75,
    ISLET_CURLOPT_SSL_VERIFYHOST = 81,
    ISLET_CURLOPT_NOSIGNAL = 99,
    ISLET_CURLOPT_TIMEOUT_MS = 155,
    ISLET_CURLOPT_CONNECTTIMEOUT_MS = 156,
    /// A set of bits; the newer one of this name takes a text, and came with 7.85.
    ISLET_CURLOPT_PROTOCOLS = 181,
    ISLET_CURLOPT_SUPPRESS_CONNECT_HEADERS = 265,
    /// Since 7.87.
    ISLET_CURLOPT_QUICK_EXIT = 322,
};

enum { ISLET_CURLPROTO_HTTP = 1, ISLET_CURLPROTO_HTTPS = 2 };

/// Gets `size * count` bytes, and returns how many it took: with fewer the transfer ends.
typedef size_t islet_curl_receiver(char *bytes, size_t size, size_t count, void *data);

// Each returns a CURLcode or a CURLMcode, 0 where all went well. A string is copied.

void *islet_curl_easy_init(void);
int islet_curl_set_number(void *easy, enum islet_curl_option option, long value);
int islet_curl_set_size(void *easy, enum islet_curl_option option, int64_t value);
int islet_curl_set_string(void *easy, enum islet_curl_option option, const char *value);
int islet_curl_set_pointer(void *easy, enum islet_curl_option option, void *value);
int islet_curl_set_receiver(void *easy, enum islet_curl_option option, islet_curl_receiver *value);
/// 0 where there is no answer.
long islet_curl_status(void *easy);
void islet_curl_easy_cleanup(void *easy);

/// NULL where there is no memory: the list is as it was.
void *islet_curl_slist_append(void *list, const char *text);
void islet_curl_slist_free_all(void *list);

void *islet_curl_multi_init(void);
int islet_curl_multi_add_handle(void *multi, void *easy);
int islet_curl_multi_remove_handle(void *multi, void *easy);
int islet_curl_multi_perform(void *multi, int *running);
/// Sleeps until there is something to do, the time is over, or somebody wakes it.
int islet_curl_multi_poll(void *multi, int milliseconds);
/// From any thread; remembered where nobody sleeps yet.
void islet_curl_multi_wakeup(void *multi);
/// What the one transfer came to; -1 while it is under way.
int islet_curl_multi_result(void *multi);
void islet_curl_multi_cleanup(void *multi);

#endif
