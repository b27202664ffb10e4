#include "curl.h"

#include <dlfcn.h>

/// As curl_multi_info_read hands it out.
struct message {
    int kind;
    void *easy;
    union {
        void *whatever;
        int result;
    } data;
};
enum { CURLMSG_DONE = 1, CURL_GLOBAL_DEFAULT = 3, CURLINFO_RESPONSE_CODE = 0x200002 };

static struct {
    int (*global_init)(long flags);
    void *(*easy_init)(void);
    int (*easy_setopt)(void *easy, int option, ...);
    int (*easy_getinfo)(void *easy, int info, ...);
    void (*easy_cleanup)(void *easy);
    void *(*slist_append)(void *list, const char *text);
    void (*slist_free_all)(void *list);
    void *(*multi_init)(void);
    int (*multi_add_handle)(void *multi, void *easy);
    int (*multi_remove_handle)(void *multi, void *easy);
    int (*multi_perform)(void *multi, int *running);
    int (*multi_poll)(void *multi, void *others, unsigned count, int milliseconds, int *ready);
    int (*multi_wakeup)(void *multi);
    struct message *(*multi_info_read)(void *multi, int *left);
    int (*multi_cleanup)(void *multi);
} curl;

bool islet_curl_load(void) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    // POSIX has it so that a pointer to data holds one to a function.
#define FIND(name) ((*(void **)&curl.name = dlsym(library, "curl_" #name)) != NULL)
    bool has_all = FIND(global_init) && FIND(easy_init) && FIND(easy_setopt) && FIND(easy_getinfo) &&
                   FIND(easy_cleanup) && FIND(slist_append) && FIND(slist_free_all) && FIND(multi_init) &&
                   FIND(multi_add_handle) && FIND(multi_remove_handle) && FIND(multi_perform) && FIND(multi_poll) &&
                   FIND(multi_wakeup) && FIND(multi_info_read) && FIND(multi_cleanup);
#undef FIND
    return has_all && curl.global_init(CURL_GLOBAL_DEFAULT) == 0;
}

void *islet_curl_easy_init(void) { return curl.easy_init(); }

int islet_curl_set_number(void *easy, enum islet_curl_option option, long value) {
    return curl.easy_setopt(easy, (int)option, value);
}

int islet_curl_set_size(void *easy, enum islet_curl_option option, int64_t value) {
    return curl.easy_setopt(easy, (int)option, value);
}

int islet_curl_set_string(void *easy, enum islet_curl_option option, const char *value) {
    return curl.easy_setopt(easy, (int)option, value);
}

int islet_curl_set_pointer(void *easy, enum islet_curl_option option, void *value) {
    return curl.easy_setopt(easy, (int)option, value);
}

int islet_curl_set_receiver(void *easy, enum islet_curl_option option, islet_curl_receiver *value) {
    return curl.easy_setopt(easy, (int)option, value);
}

long islet_curl_status(void *easy) {
    long status = 0;
    return curl.easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status) == 0 ? status : 0;
}

void islet_curl_easy_cleanup(void *easy) { curl.easy_cleanup(easy); }

void *islet_curl_slist_append(void *list, const char *text) { return curl.slist_append(list, text); }

void islet_curl_slist_free_all(void *list) { curl.slist_free_all(list); }

void *islet_curl_multi_init(void) { return curl.multi_init(); }

int islet_curl_multi_add_handle(void *multi, void *easy) { return curl.multi_add_handle(multi, easy); }

int islet_curl_multi_remove_handle(void *multi, void *easy) { return curl.multi_remove_handle(multi, easy); }

int islet_curl_multi_perform(void *multi, int *running) { return curl.multi_perform(multi, running); }

int islet_curl_multi_poll(void *multi, int milliseconds) {
    return curl.multi_poll(multi, NULL, 0, milliseconds, NULL);
}

void islet_curl_multi_wakeup(void *multi) { curl.multi_wakeup(multi); }

int islet_curl_multi_result(void *multi) {
    int left = 0;
    for (struct message *message; (message = curl.multi_info_read(multi, &left));) {
        if (message->kind == CURLMSG_DONE) return message->data.result;
    }
    return -1;
}

void islet_curl_multi_cleanup(void *multi) { curl.multi_cleanup(multi); }
