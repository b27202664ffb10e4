// Glucose tablets, eaten and not announced.

@testable import IsletLive

extension InputRow {
    static let tablets = InputRow(
        "tablets", "Glucose tablets of 4 g that are eaten.", .whole("count", "", 1...10),
        of: .person(lacks: "no meals"), keys: [InputKeys("tablets", "3", "glucose tablets, eaten")],
        words: Words("note {count} glucose tablets", "Glucose tablets: {count}"),
        form: Form("Glucose tablets", labels: ["How many"], submit: "Save")
    ) { door, count in try door.person().eat(tablets: count) }
}

extension PersonActs {
    func eat(tablets: Int) throws {
        try meal(4 * Double(tablets), isEaten: true, isAnnounced: false)
    }
}
