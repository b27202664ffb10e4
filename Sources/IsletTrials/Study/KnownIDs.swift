// What a study may name and no other file lists.

public import IsletDevices

extension RecordLevel: Listed {
    public static let noun = "a record level"
    public var summary: String {
        switch self {
        case .summary: "outcomes only"
        case .events: "outcomes, meals, manual doses, faults and alert effects"
        case .full: "events, and every step, reading and delivery"
        }
    }
}
