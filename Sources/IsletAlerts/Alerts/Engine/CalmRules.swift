// Which rules are calm, and whether all are.
//
// Guarantees: `areAll` is what a look at every rule would say. Does not: know what makes a rule calm.

/// One flag a rule.
struct CalmRules: Sendable {
    private var flags: [Bool]
    private var restless: Int

    init(_ flags: [Bool]) {
        self.flags = flags
        restless = flags.count { !$0 }
    }

    var areAll: Bool { restless == 0 }
    var indices: Range<Int> { flags.indices }

    subscript(rule: Int) -> Bool {
        get { flags[rule] }
        set {
            guard newValue != flags[rule] else { return }
            restless += newValue ? -1 : 1
            flags[rule] = newValue
        }
    }
}
