// The colours and letters of charts.
//
// Guarantees: every colour is a custom property, so that a page can set its own; `prefers-color-scheme: dark` turns them, print always
// has the light ones; each rule names the light colour first, for viewers that know no custom properties. The eight series' colours are those
// of Okabe and Ito, darkened (lightened in the dark) to a contrast of 3:1 with the ground at least.

package enum ChartStyle {
    /// How high the letters of charts are, in units of the drawing.
    package static let letters = 12.0

    private struct Colour {
        var name: String
        var light: String
        var dark: String
    }

    private static let colours: [Colour] = [
        .init(name: "b", light: "#ffffff", dark: "#14181d"),
        .init(name: "k", light: "#1a1f24", dark: "#e6e9ec"),
        .init(name: "m", light: "#5b6670", dark: "#9aa6b1"),
        .init(name: "g", light: "#d9dee3", dark: "#323a42"),
        .init(name: "s0", light: "#0067a8", dark: "#5ab4ec"),
        .init(name: "s1", light: "#c24e00", dark: "#ff914d"),
        .init(name: "s2", light: "#00805c", dark: "#2fc79a"),
        .init(name: "s3", light: "#a0478a", dark: "#e39bca"),
        .init(name: "s4", light: "#946200", dark: "#eeb93a"),
        .init(name: "s5", light: "#2c84b8", dark: "#a3d8f7"),
        .init(name: "s6", light: "#4b4f9c", dark: "#a6a9ff"),
        .init(name: "s7", light: "#6d6d00", dark: "#d6d25a"),
        .init(name: "vl", light: "#8f1414", dark: "#ff6b6b"),
        .init(name: "lo", light: "#cf3a2b", dark: "#ff9a8a"),
        .init(name: "ok", light: "#2e8b57", dark: "#57c785"),
        .init(name: "hi", light: "#a87400", dark: "#f0c24b"),
        .init(name: "vh", light: "#bb5500", dark: "#ff9d4d"),
        // The bar of time in ranges: segments beside each other differ for the colour-blind too.
        .init(name: "r0", light: "#8b0000", dark: "#c4213a"),
        .init(name: "r1", light: "#d6392b", dark: "#ffa899"),
        .init(name: "r2", light: "#4aa66a", dark: "#35905a"),
        .init(name: "r3", light: "#f2c230", dark: "#f2c230"),
        .init(name: "r4", light: "#e8842c", dark: "#e8842c"),
    ]

    /// Custom properties of the light scheme, the dark one, and print.
    package static var properties: String {
        let light = colours.map { "--\($0.name):\($0.light)" }.joined(separator: ";")
        let dark = colours.map { "--\($0.name):\($0.dark)" }.joined(separator: ";")
        return ":root{color-scheme:light dark;\(light)}\n"
            + "@media screen and (prefers-color-scheme:dark){:root{\(dark)}}\n"
    }

    /// What the classes in a chart mean; a page holds it once.
    package static var rules: String {
        var text = """
            .chart{display:block;max-width:100%;height:auto}
            .chart text{font:12px \(font);fill:#1a1f24;fill:var(--k);font-variant-numeric:tabular-nums}
            .chart .m{fill:#5b6670;fill:var(--m)}
            .chart .t{font-weight:700;font-size:14px}
            .chart .h{font-weight:700;font-size:16px}
            .chart .x{font-weight:700}
            .chart .o{paint-order:stroke;stroke:#fff;stroke:var(--b);stroke-width:3px;stroke-linejoin:round}
            .chart .e{text-anchor:end}.chart .c{text-anchor:middle}
            .chart path,.chart line{fill:none;stroke-linejoin:round}
            .chart .g{stroke:#d9dee3;stroke:var(--g);stroke-width:1}

            """
        for colour in colours where colour.name != "g" {
            text += ".chart .l-\(colour.name){stroke:\(colour.light);stroke:var(--\(colour.name))}\n"
            text += ".chart .f-\(colour.name){fill:\(colour.light);fill:var(--\(colour.name))}\n"
        }
        return text + "@media print{.chart{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n"
    }

    package static let font =
        "system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,sans-serif"
}
