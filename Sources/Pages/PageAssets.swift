// What a page fetches besides itself: embedded, and addressed by its content.
//
// Guarantees: an address with a hash in its query never means other bytes; names outside of the list have no bytes.

import IsletFiles

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
        ("page.js", PackageResources.page_js), ("live.js", PackageResources.live_js),
        ("swap.js", PackageResources.swap_js), ("commands.js", PackageResources.commands_js),
        ("times.js", PackageResources.times_js), ("notify.js", PackageResources.notify_js),
        ("banners.js", PackageResources.banners_js), ("thresholds.js", PackageResources.thresholds_js),
        ("past.js", PackageResources.past_js), ("words.js", PackageResources.words_js),
        ("sound.js", PackageResources.sound_js), ("ward.js", PackageResources.ward_js),
        ("chart.js", PackageResources.chart_js),
    ]

    static let files: [String: File] = {
        var files = [
            "page.css": File(style, PackageResources.page_css + PackageResources.ward_css),
            "charts.css": File(style, Array((ChartStyle.properties + ChartStyle.rules).utf8)),
            "icon.svg": File("image/svg+xml", PackageResources.icon_svg),
            "icon-urgent.svg": File("image/svg+xml", PackageResources.icon_urgent_svg),
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
