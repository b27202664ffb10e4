/// Codes of the catalogue, one bit each: conditions are computed and compared as sets at every judgement.
struct AlertCodeSet: Hashable, Sendable {
    private var bits: UInt32 = 0

    /// What a pump says by itself.
    static let native = AlertCodeSet(AlertCode.allCases.filter(\.isNative))
    static let all = AlertCodeSet(AlertCode.allCases)
    static let countingDown = AlertCodeSet(AlertCode.allCases.filter(\.countsDown))

    init() {}

    init(_ codes: [AlertCode]) {
        for code in codes { insert(code) }
    }

    var isEmpty: Bool { bits == 0 }

    func contains(_ code: AlertCode) -> Bool { bits & (1 << code.index) != 0 }

    mutating func insert(_ code: AlertCode) { bits |= 1 << code.index }

    mutating func set(_ code: AlertCode, _ isMember: Bool) {
        if isMember { insert(code) } else { bits &= ~(1 << code.index) }
    }

    func union(_ other: Self) -> Self { Self(bits: bits | other.bits) }
    func intersection(_ other: Self) -> Self { Self(bits: bits & other.bits) }
    /// Those that are in one of the two.
    func difference(from other: Self) -> Self { Self(bits: bits ^ other.bits) }

    private init(bits: UInt32) { self.bits = bits }
}
