// A regular expression that anybody may send.
//
// Guarantees: looking costs no more than the text's length times the pattern's. Does not: know classes, groups or counts: a pattern that has them is none.

/// Characters, `.`, `^`, `$`, `|` between whole patterns, a backslash before what is meant as it stands, and `*`, `+` or `?` behind one character.
struct TextPattern {
    private struct Piece {
        /// nil for any.
        var character: Character?
        var isOptional = false
        var isRepeated = false
    }
    private struct Branch {
        var pieces: [Piece] = []
        var isFromStart = false
        var isToEnd = false
    }

    private var branches: [Branch] = [Branch()]
    private let ignoresCase: Bool
    static let longest = 100

    /// nil for a pattern that has anything else.
    init?(_ text: String, ignoresCase: Bool = false) {
        self.ignoresCase = ignoresCase
        guard text.utf8.count <= Self.longest else { return nil }
        var rest = Array(text)[...]
        while let character = rest.popFirst() {
            let last = branches.count - 1
            if branches[last].isToEnd, character != "|" { return nil }
            switch character {
            case "|": branches.append(Branch())
            case "^":
                guard branches[last].pieces.isEmpty, !branches[last].isFromStart else { return nil }
                branches[last].isFromStart = true
            case "$": branches[last].isToEnd = true
            case "*", "+", "?":
                guard let piece = branches[last].pieces.last, !piece.isOptional, !piece.isRepeated else {
                    return nil
                }
                let place = branches[last].pieces.count - 1
                branches[last].pieces[place].isOptional = character != "+"
                branches[last].pieces[place].isRepeated = character != "?"
            case "(", ")", "[", "]", "{", "}": return nil
            case ".": branches[last].pieces.append(Piece(character: nil))
            case "\\":
                // A letter or a digit behind it means a class, or a group.
                guard let meant = rest.popFirst(), meant.isASCII, !meant.isLetter, !meant.isNumber else {
                    return nil
                }
                branches[last].pieces.append(Piece(character: meant))
            default:
                branches[last].pieces.append(Piece(character: folded(character)))
            }
        }
    }

    private func folded(_ character: Character) -> Character {
        ignoresCase && character.isASCII ? Character(character.lowercased()) : character
    }

    func isFound(in text: String) -> Bool {
        let text = text.map { folded($0) }
        return branches.contains { isFound($0, in: text) }
    }

    /// By all the places in the branch at which one may be: none is tried twice.
    private func isFound(_ branch: Branch, in text: [Character]) -> Bool {
        let pieces = branch.pieces
        var places = Array(repeating: false, count: pieces.count + 1)
        func enter(_ place: Int, _ places: inout [Bool]) {
            var place = place
            while true {
                if places[place] { return }
                places[place] = true
                guard place < pieces.count, pieces[place].isOptional else { return }
                place += 1
            }
        }
        enter(0, &places)
        if places[pieces.count], !branch.isToEnd { return true }
        for character in text {
            var next = Array(repeating: false, count: pieces.count + 1)
            for place in pieces.indices where places[place] {
                guard pieces[place].character.map({ $0 == character }) ?? (character != "\n") else {
                    continue
                }
                enter(place + 1, &next)
                if pieces[place].isRepeated { enter(place, &next) }
            }
            if !branch.isFromStart { enter(0, &next) }
            places = next
            if places[pieces.count], !branch.isToEnd { return true }
        }
        return places[pieces.count]
    }
}
