// Charts: what is drawn, to the byte, and what holds of every chart.

import IsletFiles
import IsletKernel
import Testing

@Suite("Charts") struct ChartTests {
    @Test func `a small chart is this file's part, to the byte`() {
        let chart = Chart(
            title: "Low & high", description: "From 1 to 3.", width: 200,
            panels: [
                Panel(
                    x: .linear("day", from: 0, to: 2), y: .linear("", from: 0, to: 4), height: 100,
                    marks: [
                        .line([ChartPoint(0, 1), ChartPoint(1, 2), ChartPoint(2, 3)], .series(0)),
                        .points([ChartPoint(1, 2, name: "a<b")], .low, .square, radius: 4),
                    ])
            ])
        #expect(
            chart.svg(id: "f") == """
                <svg class="chart" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 143" width="200" height="143" role="img" aria-labelledby="f-t f-d">
                <title id="f-t">Low &amp; high</title>
                <desc id="f-d">From 1 to 3.</desc>
                <path class="g" d="M14.7 106l173.3 0M14.7 56l173.3 0M14.7 6l173.3 0"/>
                <path class="l-m" d="M14.7 106l173.3 0M14.7 106l0 3M58 106l0 3M101.3 106l0 3M144.7 106l0 3M188 106l0 3"/>
                <path class="l-s0" stroke-width="1.8" d="M14.7 81l86.6-25 86.7-25"/>
                <path class="f-lo" d="M97.7 52.4l7.2 0 0 7.2-7.2 0z"><title>a&lt;b</title></path>
                <text class="m e" x="8.7" y="110.1">0</text>
                <text class="m e" x="8.7" y="60.1">2</text>
                <text class="m e" x="8.7" y="10.1">4</text>
                <text class="m c" x="14.7" y="120.5">0.0</text>
                <text class="m c" x="58" y="120.5">0.5</text>
                <text class="m c" x="101.3" y="120.5">1.0</text>
                <text class="m c" x="144.7" y="120.5">1.5</text>
                <text class="m c" x="188" y="120.5">2.0</text>
                <text class="m e" x="188" y="137">day</text>
                </svg>

                """)
    }

    @Test func `the file of its own carries both schemes, and its title for all to see`() {
        let file = Chart(title: "A title", description: "d", panels: []).standalone()
        #expect(file.hasPrefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg class=\"chart\""))
        #expect(file.contains("@media screen and (prefers-color-scheme:dark)"))
        #expect(file.contains("<text class=\"h\" x=\"14\" y=\"31\">A title</text>"))
        #expect(!file.contains("http://") || file.components(of: "http").count == 2, "the namespace alone")
    }

    @Test func `whatever is drawn lies within the view box, is finite, and is escaped`() {
        var luck = ChartFixtures.Luck(state: 12)
        var places = 0
        for round in 0..<150 {
            let svg = luck.chart().svg(id: "f")
            let box = svg.firstMatch(of: #/viewBox="0 0 ([\d.]+) ([\d.]+)"/#)
            let (width, height) = (Double(box?.output.1 ?? "") ?? 0, Double(box?.output.2 ?? "") ?? 0)
            for word in ["nan", "inf", "\u{202E}", "<b>", "\u{7}"] {
                #expect(!svg.contains(word), "round \(round): \(word)")
            }
            for (x, y) in ChartFixtures.places(in: svg) {
                places += 1
                let isWithin = x >= -0.1 && x <= width + 0.1 && y >= -0.1 && y <= height + 0.1
                #expect(
                    isWithin,
                    "round \(round): \(x), \(y) outside of \(width) x \(height)")
            }
        }
        #expect(places > 5000, "the test sees what is drawn")
    }

    @Test func `names of an axis' ticks keep apart at every width`() {
        for width in stride(from: 160.0, through: 900, by: 37) {
            for axis in [
                Axis.clock(), .linear("", from: 0, to: 1_234_567), .logarithmic("", around: [0.001, 90_000]),
                .time("", from: 37, to: 9000, calendar: ChartFixtures.newYork),
                .time("", from: 0, to: 90, calendar: ChartFixtures.newYork),
            ] {
                let svg = Chart(
                    title: "", description: "", width: width,
                    panels: [Panel(x: axis, y: .linear("", from: 0, to: 1), height: 80)]
                ).svg(id: "f")
                let names = svg.matches(of: #/<text class="m c" x="([\d.]+)" y="[\d.]+">([^<]*)</#)
                    .compactMap { match in
                        Double(match.output.1).map {
                            (x: $0, width: TextWidth.of(String(match.output.2), size: 12))
                        }
                    }
                #expect(names.count >= 2, "\(width): \(svg)")
                for (a, b) in zip(names, names.dropFirst()) {
                    #expect(a.x + a.width / 2 + 6 <= b.x - b.width / 2, "\(width): \(svg)")
                }
            }
        }
    }

    @Test func `entries of a legend stand apart, however long their names are`() {
        let names = (0..<12).map { String(repeating: "name ", count: 1 + $0 % 5) + "\($0)" }
        let svg = Chart(
            title: "", description: "", width: 340, panels: [],
            legend: names.enumerated().map { LegendEntry($0.element, .series($0.offset), .line(.solid)) }
        ).svg(id: "f")
        let entries = svg.matches(of: #/<text x="([\d.]+)" y="([\d.]+)">([^<]*)</#).compactMap { match in
            Double(match.output.1).flatMap { x in
                Double(match.output.2).map {
                    (x: x, y: $0, end: x + TextWidth.of(String(match.output.3), size: 12))
                }
            }
        }
        #expect(entries.count == 12)
        for (a, b) in zip(entries, entries.dropFirst()) {
            #expect(a.end <= 340)
            #expect(b.y > a.y || a.end + 22 <= b.x)
        }
    }

    @Test func `labels of points overlap neither each other nor points`() {
        let points = (0..<60).map { (place: Int) -> ChartPoint in
            ChartPoint(Double(place % 8), Double(place * 7 % 11), label: "policy \(place)")
        }
        let svg = Chart(
            title: "", description: "",
            panels: [
                Panel(
                    x: .linear("", from: -1, to: 9), y: .linear("", from: -1, to: 12),
                    marks: [.points(points, .series(0))])
            ]
        ).svg(id: "f")
        let labels = svg.matches(of: #/<text class="(e o|o|c o) [^"]*" x="([\d.]+)" y="([\d.]+)">([^<]*)</#)
            .compactMap { match -> (x: Double, y: Double, width: Double)? in
                guard let x = Double(match.output.2), let y = Double(match.output.3) else { return nil }
                let width = TextWidth.of(String(match.output.4), size: 12)
                let shift = match.output.1 == "o" ? 0 : match.output.1 == "e o" ? width : width / 2
                return (x - shift, y, width)
            }
        #expect(labels.count > 8)
        for (place, a) in labels.enumerated() {
            for b in labels.dropFirst(place + 1) {
                #expect(a.x + a.width <= b.x + 0.2 || b.x + b.width <= a.x + 0.2 || abs(a.y - b.y) >= 13.8)
            }
        }
    }

    @Test func `a value that is no number leaves a gap, one beyond the axis stands at its border`() {
        func path(_ values: [Double]) -> String {
            let svg = Chart(
                title: "", description: "", width: 219,
                panels: [
                    Panel(
                        x: .linear("", from: 0, to: 4), y: .linear("", from: 0, to: 1), height: 100,
                        marks: [
                            .line(values.enumerated().map { ChartPoint(Double($0.offset), $0.element) }, .low)
                        ])
                ]
            ).svg(id: "f")
            return svg.firstMatch(of: #/class="l-lo"[^>]* d="([^"]*)"/#).map { String($0.output.1) } ?? ""
        }
        #expect(ChartFixtures.corners(ofPath: path([0, 1, .nan, 1, 0])).count == 4)
        #expect(path([0, 1, .nan, 1, 0]).components(of: "M").count == 3)
        #expect(path([0, 9, 0, -9, 1]) == path([0, 1, 0, 0, 1]))
    }

    /// Five years of a line, one value an hour: as wide as the plot allows, and its extremes are there.
    @Test func `a long line is thinned, and keeps its extremes`() {
        var points = (0..<43_800).map { ChartPoint(Double($0), 100 + Double($0 % 7)) }
        points[31_111].y = 399
        points[31_112].y = 41
        let svg = Chart(
            title: "", description: "",
            panels: [
                Panel(
                    x: .linear("", from: 0, to: 43_800), y: .linear("", from: 40, to: 400), height: 200,
                    marks: [.line(points, .low)])
            ]
        ).svg(id: "f")
        #expect(svg.utf8.count < 14_000)
        let line = svg.firstMatch(of: #/class="l-lo"[^>]* d="([^"]*)"/#).map { String($0.output.1) } ?? ""
        let heights = ChartFixtures.corners(ofPath: line).map(\.y)
        #expect((heights.min() ?? 99) < 7 && (heights.max() ?? 0) > 205)
    }
}

extension String {
    fileprivate func components(of separator: String) -> [Substring] {
        split(separator: separator, omittingEmptySubsequences: false)
    }
}
