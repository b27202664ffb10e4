// "Did you mean": the known word nearest to an unknown one.
//
// Guarantees: bounded work whatever the input's length; the same answer for the same input, ties by list order.

import IsletDevices

/// The word among `known` that `word` is most likely a slip of, or nil when none is near.
///
/// Near: at most a third of the letters (at least one, at most three) inserted, dropped, changed or swapped,
/// ignoring case.
package func nearest(to word: String, among known: [String]) -> String? {
    let typed = Array(word.lowercased().unicodeScalars.prefix(64))
    var best: (word: String, distance: Int)?
    for candidate in known {
        let distance = editDistance(typed, Array(candidate.lowercased().unicodeScalars))
        if distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    guard let best, best.distance <= max(1, min(3, typed.count / 3)) else { return nil }
    return best.word
}

/// `one of a, b, c (nearest: `b`)`: what is expected in place of a word that is none of the known ones.
package func oneOf(_ known: [String], meant word: String) -> String {
    let meant = nearest(to: word, among: known).map { " (nearest: `\($0)`)" } ?? ""
    return "one of " + printable(known.joined(separator: ", "), limit: 400) + meant
}

/// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours cost one each.
package func editDistance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
    guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
    var beforePrevious = [Int](repeating: 0, count: b.count + 1)
    var previous = Array(0...b.count)
    for i in 1...a.count {
        var row = [i]
        for j in 1...b.count {
            var cost = min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
            if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                cost = min(cost, beforePrevious[j - 2] + 1)
            }
            row.append(cost)
        }
        beforePrevious = previous
        previous = row
    }
    return previous[b.count]
}
