// Charts for tests, and a plain reader of the numbers in an SVG.

import IsletFiles
import IsletKernel

enum ChartFixtures {
    /// A generator of our own, so that a failure repeats.
    struct Luck {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 11
        }
        mutating func below(_ n: Int) -> Int { Int(next() % UInt64(n)) }
        /// Mostly ordinary, sometimes what no chart should break at.
        mutating func value() -> Double {
            switch below(12) {
            case 0: .nan
            case 1: .infinity
            case 2: -1e300
            case 3: 0
            default: Double(below(100_000)) / 100 - 200
            }
        }
        mutating func name() -> String {
            [
                "low", "a <b>&\"'</b>", "\u{202E}reversed",
                "ALERT-PUMP-SIGNAL-LOSS.debounce=15m and more of it",
                "ünïcode 低血糖", "", String(repeating: "W", count: 90), "line\nbreak\u{7}",
            ][below(8)]
        }
        mutating func point() -> ChartPoint {
            ChartPoint(
                value(), value(), name: below(2) == 0 ? name() : nil, label: below(3) == 0 ? name() : nil)
        }
        mutating func ink() -> Ink { below(2) == 0 ? .series(below(20)) : .low }

        mutating func points() -> [ChartPoint] {
            let count = [0, 1, 2, 30, 300][below(5)]
            return (0..<count).map { _ in point() }
        }

        mutating func range() -> ClosedRange<Double>? {
            let (a, b) = (value(), value())
            return a <= b ? a...b : nil
        }

        mutating func mark() -> Mark {
            switch below(11) {
            case 0: .band(points().map { BandPoint($0.x, $0.y, value()) }, ink())
            case 1: .line(points(), ink(), .of(series: below(40)))
            case 2: .area(points(), base: value(), ink())
            case 3: .points(points(), ink(), .of(series: below(9)))
            case 4: .dots(points(), ink())
            case 5: .intervals(points().map { ChartInterval($0.x, $0.y, x: range(), y: range()) }, ink())
            case 6: .region(points(), ink())
            case 7: .span(below(2) == 0 ? .x : .y, from: value(), to: value(), ink())
            case 8: .rule(below(2) == 0 ? .x : .y, at: value(), ink())
            case 9:
                .bars(
                    points().prefix(8).enumerated().map {
                        ChartBar(
                            at: Double($0.offset), from: value(), to: value(), ink: ink(),
                            label: below(2) == 0 ? name() : nil)
                    })
            default: .label(point(), .strong)
            }
        }

        mutating func axis() -> Axis {
            switch below(6) {
            case 0: .linear(name(), around: [value(), value()], withZero: below(2) == 0)
            case 1: .logarithmic(name(), around: [value(), value(), 3])
            case 2: .categories(name(), (0..<below(12)).map { _ in name() })
            case 3: .clock()
            case 4: .time(name(), from: value(), to: value() + 1440, calendar: newYork)
            default: .glucose(below(2) == 0 ? .mgdl : .mmolL, from: 40, to: 400)
            }
        }

        mutating func chart() -> Chart {
            Chart(
                title: name(), description: name(), width: [120, 340, 700][below(3)], columns: 1 + below(3),
                sharesX: below(2) == 0,
                panels: (0..<below(4)).map { _ in
                    Panel(
                        title: below(2) == 0 ? name() : nil, x: axis(), y: axis(),
                        marks: (0..<below(4)).map { _ in mark() })
                },
                legend: (0..<below(9)).map {
                    LegendEntry(
                        name(), .series($0),
                        [.line(.dashed), .point(.of(series: $0)), .fill(opacity: 0.3)][below(3)])
                })
        }
    }

    /// 2026-01-01T02:00 in New York.
    static let newYork = SessionCalendar(startEpochSeconds: 1_767_250_800, offsetSeconds: -18_000)

    /// Every coordinate that the elements of a chart come to, in drawing units; texts by their anchor's end alone.
    static func places(in svg: String) -> [(x: Double, y: Double)] {
        var found: [(x: Double, y: Double)] = []
        for element in svg.matches(of: #/<(path|circle|rect|text)\b([^>]*)>/#) {
            let attributes = String(element.output.2)
            func number(_ name: String) -> Double? {
                guard let range = attributes.firstRange(of: " \(name)=\"") else { return nil }
                return Double(attributes[range.upperBound...].prefix { $0 != "\"" })
            }
            if let d = attributes.firstMatch(of: #/ d="([^"]*)"/#) {
                found += corners(ofPath: String(d.output.1))
            } else if let x = number("cx"), let y = number("cy") {
                found.append((x, y))
            } else if let x = number("x"), let y = number("y") {
                found += [(x, y), (x + (number("width") ?? 0), y + (number("height") ?? 0))]
            }
        }
        return found
    }

    /// M, l, h, m and z, as charts write them.
    static func corners(ofPath path: String) -> [(x: Double, y: Double)] {
        var (x, y) = (0.0, 0.0)
        var found: [(x: Double, y: Double)] = []
        for command in path.matches(of: #/([Mmlhz])([^Mmlhz]*)/#) {
            let numbers = command.output.2.matches(of: #/-?(\d+\.?\d*|\.\d+)/#).compactMap {
                Double($0.output.0)
            }
            switch command.output.1 {
            case "M":
                (x, y) = (numbers[0], numbers[1])
                found.append((x, y))
            case "h":
                x += numbers[0]
                found.append((x, y))
            case "m", "l":
                for place in stride(from: 0, to: numbers.count - 1, by: 2) {
                    x += numbers[place]
                    y += numbers[place + 1]
                    found.append((x, y))
                }
            default: break
            }
        }
        return found
    }
}
