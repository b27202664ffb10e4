// A sweep in `summary.json`, and as `sweep.csv`: factors are columns.
//
// Guarantees: the CSV has one row a point of the sweep and arm that it varies, joined ones too, each with the number of the row whose values it has; the
// reference's row stands first where it is no point. Numbers are those of summary.json.

package import IsletFiles
import IsletDevices

extension SweepView {
    package var json: JSONValue {
        [
            "of": .string(policy), "mode": .string(mode.rawValue),
            "variants": .integer(Int64(variants)),
            "factors": .array(
                factors.map {
                    [
                        "path": .string($0.path), "head": .string($0.head),
                        "values": .array($0.values.map { .string($0) }),
                    ]
                }),
            "metrics": .array(metrics.map { .string($0) }),
            "gain": gain.map { .string($0) } ?? .null, "cost": cost.map { .string($0) } ?? .null,
            "reference": reference.map { .string($0) } ?? .null,
            "headline": .string(headline.text),
            "unvaried": .array(unvaried.map { .string($0) }),
            "rows": .array(rows.map(json)),
            "effects": .array(
                effects.map { effect in
                    [
                        "factor": .string(effect.factor),
                        "levels": .array(
                            effect.levels.map { level in
                                [
                                    "value": .string(level.value),
                                    "gain": level.gain.map { .number($0) } ?? .null,
                                    "cost": level.cost.map { .number($0) } ?? .null,
                                ]
                            }),
                    ]
                }),
        ]
    }

    private func json(_ row: Row) -> JSONValue {
        [
            "name": .string(row.name), "of": .string(row.of), "label": .string(row.label),
            "is_reference": .bool(row.isReference), "on_front": .bool(row.isOnFront),
            "points": .array(row.points.map(point)),
            "joined": .array(
                row.joins.map { ["point": point($0.values), "because": .string($0.reason.rawValue)] }),
            "outcomes": .object(
                metrics.compactMap { metric in
                    row.cells[metric].map { .init(metric, $0.json) }
                }),
        ]
    }

    private func point(_ values: [String]) -> JSONValue {
        .object(zip(factors, values).map { .init($0.head, .string($1)) })
    }

    package var csv: String {
        let measured = metrics.flatMap { metric in
            [metric] + ["difference", "ci95_lower", "ci95_upper", "p"].map { "\(metric)_\($0)" }
        }
        var text =
            (factors.map(\.head) + ["in", "row", "lived_as", "joined", "reference", "on_front"] + measured)
            .map(csvField).joined(separator: ",") + "\n"
        for (number, row) in rows.enumerated() {
            let points = row.points.isEmpty ? [factors.map { _ in "" }] : row.points
            for point in points {
                let join = row.joins.first { $0.values == point }
                var cells = point.map { $0 == PolicySweep.asItIs ? "" : $0 }
                cells += [
                    row.of, "\(number)", row.name, join?.reason.rawValue ?? "",
                    row.isReference ? "1" : "0", row.isOnFront ? "1" : "0",
                ]
                for metric in metrics {
                    let cell = row.cells[metric]
                    cells += [
                        cell?.mean, cell?.difference, cell?.bounds?.lower, cell?.bounds?.upper, cell?.p,
                    ].map { $0.map { "\($0)" } ?? "" }
                }
                text += cells.map(csvField).joined(separator: ",") + "\n"
            }
        }
        return text
    }
}

extension SweepView.Cell {
    fileprivate var json: JSONValue {
        [
            "mean": .number(mean), "ci95": ci95?.json ?? .null,
            "difference": difference.map { .number($0) } ?? .null,
            "difference_ci95": bounds?.json ?? .null,
            "p": p.map { .number($0) } ?? .null, "p_is_adjusted": .bool(isAdjusted),
            "equal_in_every_pair": .bool(isEqual), "n": .integer(Int64(n)),
        ]
    }
}
