// Numbers of one's own as metrics: `own.lowSoon` is what an algorithm of somebody's own, or a listener beside one, answers under the name `lowSoon`.
//
// Guarantees: a name has one place for as long as the program runs, whoever says it first, so that a rule which compares one costs as much as any other; no
// result depends on the place. Does not: know who answers it. The study does (`Study.checkOwnNumbers`).

import IsletDevices
import Synchronization

enum OwnMetric {
    static let prefix = "own."
    /// How many names one program may come to know: files are read whose names nobody will ever answer.
    static let most = 64

    private static let names = Mutex<[String]>([])

    /// The place of a name among those that are known; nil for what is no name, or one too many.
    static func place(of name: String) -> Int? {
        guard OwnNumber.isName(name) else { return nil }
        return names.withLock { names in
            if let known = names.firstIndex(of: name) { return known }
            guard names.count < most else { return nil }
            names.append(name)
            return names.count - 1
        }
    }

    static func name(at place: Int) -> String {
        names.withLock { $0.indices.contains(place) ? $0[place] : "" }
    }
}

extension AlertMetric {
    /// The metric that a policy means: a row's, or a number of somebody's own.
    package init?(inPolicy text: String) {
        if let known = AlertMetric(rawValue: text) {
            self = known
        } else {
            guard text.hasPrefix(OwnMetric.prefix) else { return nil }
            self.init(ownNumber: String(text.dropFirst(OwnMetric.prefix.count)))
        }
    }

    /// The number that is answered under a name.
    package init?(ownNumber name: String) {
        guard let place = OwnMetric.place(of: name) else { return nil }
        self.init(ownPlace: place)
    }
}

extension AlertMetric {
    /// Numbers of somebody's own that rules compare, by name.
    package static func own(in rules: [AlertRule]) -> [AlertMetric] {
        Set(rules.flatMap(\.tests).map(\.metric).filter(\.isOwn)).sorted { $0.rawValue < $1.rawValue }
    }

    /// The length of a table by place that has room for these too.
    static func count(with own: [AlertMetric]) -> Int {
        own.reduce(allCases.count) { max($0, $1.index + 1) }
    }
}

extension AlertPolicy {
    /// Numbers of somebody's own that its rules compare, by name.
    package var ownMetrics: [AlertMetric] { AlertMetric.own(in: rules) }
}
