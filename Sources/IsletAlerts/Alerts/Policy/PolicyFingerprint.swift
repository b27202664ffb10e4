// A number for a policy, by which a launch sees that it is another one than the stored state was made under.
//
// Guarantees: equal in every process and on every machine for policies that behave equally; the name doesn't count, nor does what a rule says of its truth.

import IsletDevices

extension AlertPolicy {
    /// FNV-1a over everything that decides.
    public var fingerprint: UInt64 {
        var hash = PolicyHash()
        for rule in rules { rule.feed(&hash) }
        hash.take(quietHours.map { [$0.from, $0.to] } ?? [])
        hash.take(quietHours?.zone?.name ?? "")
        hash.take(self, Self.fields)
        hash.take(limits, AlertLimits.fields)
        if !takesSnoozes { hash.take(takesSnoozes) }
        return hash.value
    }
}

extension AlertRule {
    fileprivate func feed(_ hash: inout PolicyHash) {
        hash.take(code.rawValue)
        if case .source(let source) = trigger { hash.take(source.rawValue) }
        for test in tests {
            hash.take(test.metric.rawValue + test.side.rawValue)
            hash.take(test.bound)
            hash.take(test.clearAt)
        }
        hash.take(self, Self.ruleFields + Self.fields)
        hash.take(criticalBelow)
        hash.take(criticalAbove)
        hash.take(subject)
        hash.take(isLiteral)
    }
}

private struct PolicyHash {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    private mutating func take(byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }

    mutating func take(_ text: String) {
        for byte in text.utf8 { take(byte: byte) }
        take(byte: 0xff)
    }

    mutating func take(_ numbers: [Int64]) {
        for number in numbers {
            for shift in stride(from: 0, to: 64, by: 8) {
                take(byte: UInt8(truncatingIfNeeded: number >> Int64(shift)))
            }
        }
        take(byte: 0xfe)
    }

    mutating func take(_ number: Double?) {
        take(number.map { [Int64(bitPattern: $0.bitPattern)] } ?? [])
    }

    mutating func take(_ flag: Bool) { take(byte: flag ? 1 : 0) }

    private mutating func take(_ cooldowns: AlertCooldowns) {
        take([cooldowns.actionable ?? -1, cooldowns.safetyCritical ?? -1])
    }

    /// Every parameter that has a row.
    mutating func take<Root>(_ root: Root, _ fields: [PolicyField<Root>]) {
        for field in fields {
            switch field.value {
            case .flag(let path): take(root[keyPath: path])
            case .span(let path, _): take([root[keyPath: path]])
            case .optionalSpan(let path): take([root[keyPath: path] ?? -1])
            case .severity(let path): take([Int64(root[keyPath: path].rawValue)])
            case .acknowledgement(let path): take(root[keyPath: path].rawValue)
            case .codes(let path): for code in root[keyPath: path] { take(code.rawValue) }
            case .escalations(let path):
                for step in root[keyPath: path] { take([step.after, Int64(step.to.rawValue)]) }
            case .cooldowns(let path): take(root[keyPath: path])
            case .cooldown(let all, let some):
                take([root[keyPath: all] ?? -1])
                take(root[keyPath: some])
            case .afterFront(let path):
                // Where nothing is said, a policy is the one that it was before there was anything to say.
                if let front = root[keyPath: path] { take([front.left, front.unanswered]) }
            case .truth: break
            }
        }
    }
}
