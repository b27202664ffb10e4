// What varies in a sweep: its factors, and their values by point.
//
// Guarantees: factors stand in the order of the grid, values in that of their first point; heads differ, and are as short as that allows.

import IsletDevices

extension PolicySweep {
    /// One thing that varies.
    package struct Factor: Hashable, Sendable {
        package var path: String
        /// As a column is called: `debounce`, or `LOW+HIGH debounce` where another factor is a debounce too.
        package var head: String
        /// Without that of the policy itself.
        package var values: [String]
    }

    /// What stands for a factor that a point leaves as the policy has it.
    package static let asItIs = "–"

    package var factors: [Factor] {
        var paths: [String] = []
        for setting in points.flatMap(\.self) where !paths.contains(setting.path) {
            paths.append(setting.path)
        }
        let labels = paths.map { path in
            (try? PolicyPath(path, at: YAMLNode.Origin(file: "sweep")))?.label ?? path
        }
        func last(_ label: String) -> String {
            label.lastIndex(of: ".").map { String(label[label.index(after: $0)...]) } ?? label
        }
        let ends = labels.map(last)
        return paths.indices.map { place in
            let isAlone = ends.count { $0 == ends[place] } == 1
            let label = labels[place].replacing("ALERT-", with: "")
            let head =
                isAlone
                ? ends[place]
                : (label.lastIndex(of: ".").map {
                    "\(label[..<$0]) \(label[label.index(after: $0)...])"
                } ?? label)
            var values: [String] = []
            for point in points.indices {
                let value = self.value(of: paths[place], at: point)
                if value != Self.asItIs, !values.contains(value) { values.append(value) }
            }
            return Factor(path: paths[place], head: head, values: values)
        }
    }

    /// The values of a point, by factor.
    package func values(of point: Int) -> [String] { factors.map { value(of: $0.path, at: point) } }

    private func value(of path: String, at point: Int) -> String {
        guard let setting = points[point].last(where: { $0.path == path }) else { return Self.asItIs }
        return switch setting.value {
        case .string(let text): text
        case .null: Self.asItIs
        case let other: other.compactText.replacing("\"", with: "")
        }
    }
}
