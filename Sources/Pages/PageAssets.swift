// What a page fetches besides itself: embedded, and addressed by its content.
//
// Guarantees: an address with a hash in its query never means other bytes; names outside of the list have no bytes.

import CAssets
import IsletFiles
import IsletLive

extension Page {
    /// A file of `/assets/`; nil for a name that is none.
    package static func asset(_ name: String) -> (type: String, bytes: [UInt8])? {
        PageAssets.files[name].map { ($0.type, $0.bytes) }
    }

    /// Its address, which changes with its bytes.
    static func address(of name: String) -> String {
        "/assets/\(name)" + (PageAssets.files[name].map { "?v=\($0.hash)" } ?? "")
    }
}

enum PageAssets {
    struct File: Sendable {
        var type: String
        var bytes: [UInt8]
        var hash: String

        init(_ type: String, _ bytes: [UInt8]) {
            (self.type, self.bytes, hash) = (type, bytes, PageAssets.hash(bytes))
        }
    }

    private static let style = "text/css; charset=utf-8"

    private static let scripts: [(name: String, bytes: [UInt8])] = [
        ("page.js", islet_asset_page_js().array), ("live.js", islet_asset_live_js().array),
        ("swap.js", islet_asset_swap_js().array), ("commands.js", islet_asset_commands_js().array),
        ("times.js", islet_asset_times_js().array), ("notify.js", islet_asset_notify_js().array),
        ("banners.js", islet_asset_banners_js().array), ("thresholds.js", islet_asset_thresholds_js().array),
        ("past.js", islet_asset_past_js().array), ("words.js", islet_asset_words_js().array),
        ("sound.js", islet_asset_sound_js().array), ("ward.js", islet_asset_ward_js().array),
        ("chart.js", islet_asset_chart_js().array),
    ]

    static let files: [String: File] = {
        var files = [
            "page.css": File(style, islet_asset_page_css().array + islet_asset_ward_css().array),
            "charts.css": File(style, Array((ChartStyle.properties + ChartStyle.rules).utf8)),
            "icon.svg": File("image/svg+xml", islet_asset_icon_svg().array),
            "icon-urgent.svg": File("image/svg+xml", islet_asset_icon_urgent_svg().array),
        ]
        // Modules import each other: they have one hash together, which stands in each import.
        let version = PageAssets.hash(scripts.flatMap(\.bytes))
        for (name, bytes) in scripts {
            let text = String(decoding: bytes, as: UTF8.self).replacing(".js';", with: ".js?v=\(version)';")
            var file = File("text/javascript; charset=utf-8", Array(text.utf8))
            file.hash = version
            files[name] = file
        }
        return files
    }()

    /// FNV-1a, 64 bit: tells versions apart, and is no protection against anything.
    static func hash(_ bytes: [UInt8]) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return String(hash, radix: 16)
    }
}
