// The steps of a group that wait for one call.
//
// Guarantees: they are sent in the order of the group's places, whatever the order they came in, and each of them once. Of a packed one its cells are kept and not its
// question: that is read once, when it comes. Does not: say what goes before them (`PluginGroup`).

import IsletDevices
import IsletKernel

/// Whom a step is about that has been asked, for whoever reads the answer.
struct AskedStep: Sendable {
    var handle: Int64
    /// Its number.
    var step: Int64
    var now: Instant
}

struct AskedSteps {
    private let isPacked: Bool
    /// By place; nil for who asks nothing.
    private var steps: [AskedStep?]
    private var count = 0
    /// Of each place, little endian.
    private var cells: [UInt64]
    /// In the order in which they came.
    private var lines: [AskedRow] = []

    init(isPacked: Bool, members: Int) {
        self.isPacked = isPacked
        steps = Array(repeating: nil, count: members)
        cells = Array(repeating: 0, count: isPacked ? members * AskedRow.cells : 0)
    }

    /// - Parameter member: whose place has no step yet.
    mutating func add(_ member: Int, _ row: consuming AskedRow) {
        steps[member] = AskedStep(
            handle: row.handle, step: row.question.input.algorithmTime, now: row.question.input.now)
        count += 1
        guard isPacked else { return lines.append(row) }
        cells.withUnsafeMutableBufferPointer { cells in
            let own = UnsafeMutableBufferPointer(
                rebasing: cells[member * AskedRow.cells..<(member + 1) * AskedRow.cells])
            guard let first = own.baseAddress else { return }
            row.write(to: first)
            for place in own.indices { own[place] = own[place].littleEndian }
        }
    }

    /// Appends them as they are sent, and keeps none.
    /// - Returns: whom they are about, in the order of places.
    mutating func take(into bytes: inout [UInt8]) -> [AskedStep] {
        defer {
            for place in steps.indices { steps[place] = nil }
            count = 0
        }
        if isPacked {
            PluginFrame.step.append(to: &bytes, rows: count) { bytes in
                cells.withUnsafeBytes { cells in
                    let width = AskedRow.cells * 8
                    // All of them lie side by side.
                    if count == steps.count { return bytes += cells }
                    for place in steps.indices where steps[place] != nil {
                        bytes += UnsafeRawBufferPointer(rebasing: cells[place * width..<(place + 1) * width])
                    }
                }
            }
        } else {
            lines.sort { $0.handle < $1.handle }
            PluginLines.append("step", lines, StepFields.step, to: &bytes)
            lines.removeAll(keepingCapacity: true)
        }
        return steps.compactMap(\.self)
    }
}
