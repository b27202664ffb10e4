// Files that are part of a program: what a page fetches, and the demonstration's ward.
//
// Guarantees: a name that isn't here doesn't compile; the bytes are those of the file when the program was built.
//
// In C, whose compiler takes a file as it is; to Swift's it is a literal of as many numbers, which it optimises for seconds.

#ifndef ISLET_ASSETS_H
#define ISLET_ASSETS_H

#include <stddef.h>
#include <stdint.h>

/// A file's bytes, which live as long as the program.
struct islet_asset {
    const uint8_t *bytes;
    size_t count;
};

// What a page fetches: Sources/Pages/Assets.
struct islet_asset islet_asset_banners_js(void);
struct islet_asset islet_asset_chart_js(void);
struct islet_asset islet_asset_commands_js(void);
struct islet_asset islet_asset_icon_urgent_svg(void);
struct islet_asset islet_asset_icon_svg(void);
struct islet_asset islet_asset_live_js(void);
struct islet_asset islet_asset_notify_js(void);
struct islet_asset islet_asset_page_css(void);
struct islet_asset islet_asset_page_js(void);
struct islet_asset islet_asset_past_js(void);
struct islet_asset islet_asset_sound_js(void);
struct islet_asset islet_asset_swap_js(void);
struct islet_asset islet_asset_thresholds_js(void);
struct islet_asset islet_asset_times_js(void);
struct islet_asset islet_asset_ward_css(void);
struct islet_asset islet_asset_ward_js(void);
struct islet_asset islet_asset_words_js(void);

// The demonstration: Sources/IsletLive/Ward/Demonstration.
struct islet_asset islet_asset_broken_pod_yaml(void);
struct islet_asset islet_asset_demonstration_yaml(void);
struct islet_asset islet_asset_people_yaml(void);
struct islet_asset islet_asset_room_yaml(void);

#endif
