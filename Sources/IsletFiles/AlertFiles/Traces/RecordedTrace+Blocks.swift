// A recorded trace in blocks of days, so that one person's intervals have something to vary over.
//
// Guarantees: blocks are of equal length, every reading is in exactly one of them; days in a row stay together, as they resemble each other.

extension RecordedTrace {
    /// Days of a block at least, where there are enough for six of them.
    package static let blockDays = 7.0
    private static let fewestBlocks = 6.0
    /// So that days that resemble each other are not taken for independent.
    private static let shortestDays = 2.0

    private init(_ whole: RecordedTrace, name: String, readings: [Reading], span: ClosedRange<Int64>) {
        (self.name, self.readings, self.span) = (name, readings, span)
        (file, format, unit, zone, counts) = (
            whole.file, whole.format, whole.unit, whole.zone, whole.counts
        )
    }

    /// The trace cut into blocks of a week or somewhat more; of shorter ones where that would make fewer than six. Blocks without a reading are left out.
    package var blocks: [RecordedTrace] {
        let length = span.upperBound - span.lowerBound
        let days = Double(length) / 86_400_000
        let count = Int(
            max(days / Self.blockDays, min(Self.fewestBlocks, days / Self.shortestDays)).rounded(.down))
        guard count > 1 else { return [self] }
        var rest = readings[...]
        var blocks: [RecordedTrace] = []
        for number in 0..<count {
            let from = span.lowerBound + length * Int64(number) / Int64(count)
            let to = span.lowerBound + length * Int64(number + 1) / Int64(count)
            let own = number + 1 == count ? rest : rest.prefix { $0.time < to }
            rest = rest.dropFirst(own.count)
            guard let first = own.first, let last = own.last else { continue }
            let begin = number == 0 ? from : first.time
            blocks.append(
                RecordedTrace(
                    self, name: "\(name) block \(number + 1)", readings: Array(own),
                    span: begin...max(begin, number + 1 == count ? to : last.time)))
        }
        return blocks
    }
}
