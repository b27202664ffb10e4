// The episodes of a session, numbered: the one numbering that all commands share.
//
// Guarantees: a pure function of the rows. An episode begins with its raise, or with what the system rang while the app was
// dead, and has the number in the order of those, from 1. The wait before it and what is taken down after it belong to it.
// Does not: number what belongs to no episode, such as a wait that was given up, a deadline or a test alert.

public enum AlertEpisodes {
    /// For each row the number of its episode; nil for what belongs to none.
    public static func numbers(of rows: [AlertRow]) -> [Int?] {
        var numbers = [Int?](repeating: nil, count: rows.count)
        var waits: [AlertName: Int] = [:]
        var open: [AlertName: Int] = [:]
        /// Those that only the system has rung for so far.
        var onlyRung: Set<AlertName> = []
        var over: [AlertName: (number: Int, place: Int)] = [:]
        var last = 0
        for (place, row) in rows.enumerated() {
            switch row.effect {
            case "wait":
                waits[row.code] = place
            case "drop":
                waits[row.code] = nil
            case "raise":
                if open[row.code] == nil {
                    last += 1
                    open[row.code] = last
                }
                onlyRung.remove(row.code)
                numbers[place] = open[row.code]
                if let wait = waits.removeValue(forKey: row.code) { numbers[wait] = open[row.code] }
            case "notify" where row.reason == "test":
                break
            case "notify" where row.reason == "deadline" && open[row.code] == nil:
                last += 1
                open[row.code] = last
                onlyRung.insert(row.code)
                numbers[place] = last
            case "clear":
                numbers[place] = open[row.code]
                if let number = open.removeValue(forKey: row.code) { over[row.code] = (number, place) }
            case "withdraw":
                if let number = open[row.code] {
                    numbers[place] = number
                    if onlyRung.remove(row.code) != nil { open[row.code] = nil }
                } else if let (number, cleared) = over[row.code], rows[cleared].instant == row.instant {
                    numbers[place] = number
                }
            case "schedule":
                break
            default:
                numbers[place] = open[row.code]
            }
        }
        return numbers
    }
}
