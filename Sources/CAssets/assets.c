#include "assets.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

/// The function that answers with the array of that name.
#define ASSET(name) \
    struct islet_asset islet_asset_##name(void) { return (struct islet_asset){name, sizeof name}; }

static const uint8_t banners_js[] = {
#embed "../Pages/Assets/banners.js"
};
ASSET(banners_js)

static const uint8_t chart_js[] = {
#embed "../Pages/Assets/chart.js"
};
ASSET(chart_js)

static const uint8_t commands_js[] = {
#embed "../Pages/Assets/commands.js"
};
ASSET(commands_js)

static const uint8_t icon_urgent_svg[] = {
#embed "../Pages/Assets/icon-urgent.svg"
};
ASSET(icon_urgent_svg)

static const uint8_t icon_svg[] = {
#embed "../Pages/Assets/icon.svg"
};
ASSET(icon_svg)

static const uint8_t live_js[] = {
#embed "../Pages/Assets/live.js"
};
ASSET(live_js)

static const uint8_t notify_js[] = {
#embed "../Pages/Assets/notify.js"
};
ASSET(notify_js)

static const uint8_t page_css[] = {
#embed "../Pages/Assets/page.css"
};
ASSET(page_css)

static const uint8_t page_js[] = {
#embed "../Pages/Assets/page.js"
};
ASSET(page_js)

static const uint8_t past_js[] = {
#embed "../Pages/Assets/past.js"
};
ASSET(past_js)

static const uint8_t sound_js[] = {
#embed "../Pages/Assets/sound.js"
};
ASSET(sound_js)

static const uint8_t swap_js[] = {
#embed "../Pages/Assets/swap.js"
};
ASSET(swap_js)

static const uint8_t thresholds_js[] = {
#embed "../Pages/Assets/thresholds.js"
};
ASSET(thresholds_js)

static const uint8_t times_js[] = {
#embed "../Pages/Assets/times.js"
};
ASSET(times_js)

static const uint8_t ward_css[] = {
#embed "../Pages/Assets/ward.css"
};
ASSET(ward_css)

static const uint8_t ward_js[] = {
#embed "../Pages/Assets/ward.js"
};
ASSET(ward_js)

static const uint8_t words_js[] = {
#embed "../Pages/Assets/words.js"
};
ASSET(words_js)

static const uint8_t broken_pod_yaml[] = {
#embed "../IsletLive/Ward/Demonstration/broken-pod.yaml"
};
ASSET(broken_pod_yaml)

static const uint8_t demonstration_yaml[] = {
#embed "../IsletLive/Ward/Demonstration/demonstration.yaml"
};
ASSET(demonstration_yaml)

static const uint8_t people_yaml[] = {
#embed "../IsletLive/Ward/Demonstration/people.yaml"
};
ASSET(people_yaml)

static const uint8_t room_yaml[] = {
#embed "../IsletLive/Ward/Demonstration/room.yaml"
};
ASSET(room_yaml)
