// Two results folders against each other: what changed between them, person by person.
//
// Guarantees: people are paired only where both folders have the same ones (the manifests' checksum of the cohort); others are refused, or,
// where that is asked for, compared as independent groups and said to be. Folders that are shards or not complete are refused.
// Who ended early has the worst value that anybody in the two folders has, so that no bound is kept by losing people.
// Does not: adjust for the number of comparisons: a bound is asked about one outcome, and all else is there to be looked at.

import IsletFiles
import IsletNumerics
package import IsletDevices
import IsletKernel

/// The finished sessions of a folder, by arm and outcome.
package struct FolderValues {
    package let folder: ResultFolder
    package let study: Study
    package let identity: RunIdentity
    /// By arm, by outcome.
    private let columns: [[String: SubjectValues]]
    let ended: EarlyEnds
    /// Of all sessions, by arm: equal where everybody lived the same.
    let digests: [String]

    /// - Throws: `InputError` for a folder that isn't complete.
    package init(_ folder: ResultFolder, store: any ResultStore) throws {
        self.folder = folder
        guard try folder.isComplete() else {
            throw InputError(
                file: folder.path, found: "a run that is not complete", expected: "a complete one")
        }
        try folder.checkStoreHash()
        identity = try RunIdentity(of: folder)
        guard identity.shard.isWhole else {
            throw InputError(
                file: folder.path, found: "shard \(identity.shard)", expected: "a whole study: `islet merge`")
        }
        study = try Study.parse(try store.studyText(), file: folder.path, hasRun: true)
        var columns = study.arms.map { _ in [String: SubjectValues]() }
        var ended = EarlyEnds(arms: study.arms.count)
        var hashes = study.arms.map { _ in SHA256() }
        let outcomes = study.outcomes
        try store.forEachSummary { session in
            guard columns.indices.contains(session.armIndex) else { return }
            ended.add(session)
            hashes[session.armIndex].update(Array("\(session.subjectIndex):\(session.digest)\n".utf8))
            for outcome in outcomes {
                guard let value = session.outcomes[outcome.name] else { continue }
                columns[session.armIndex][outcome.name, default: []].append((session.subjectIndex, value))
            }
        }
        self.columns = columns
        self.ended = ended
        digests = hashes.map { $0.finished().description }
    }

    /// An outcome's values by arm, each by rising subject, as they are.
    func values(_ outcome: String) -> [SubjectValues] { columns.map { $0[outcome] ?? [] } }

    /// Those of some arms, as these are compared with each other: who ended early has the worst of them.
    func compared(_ outcome: Outcome, _ arms: [String]) -> [SubjectValues] {
        let places = arms.compactMap { name in study.arms.firstIndex { $0.name == name } }
        let columns = values(outcome.name)
        return ended.of(places).charged(places.map { columns[$0] }, outcome)
    }
}

package struct FolderComparison {
    /// One outcome of one arm.
    package struct Row: Hashable, Sendable {
        package var metric: String
        /// Mean over each side's people.
        package var first: Double
        package var second: Double
        /// The mean of the second side alone, over its own people; nil for one person.
        package var level: StudySummary.Estimate?
        /// Second − first.
        package var difference: Double
        package var ci95: StudySummary.ConfidenceBounds?
        package var standardError: Double?
        package var p: Double?
        /// Pairs, or people of the smaller side where they are not paired.
        package var n: Int
        package var isEqualInEveryPair: Bool
        /// People with a value other than 0 on either side.
        package var withAny: Int
        /// And on the second.
        package var secondWithAny: Int
        /// Everybody lived the same on both sides, to the digest.
        package var areSame = false
    }

    package let first: FolderValues
    package let second: FolderValues
    package let isPaired: Bool
    /// Names in the first and in the second folder.
    package let arms: [(first: String, second: String)]

    /// - Parameters:
    ///   - arm: the only one that is compared; nil for all that both have.
    ///   - isPaired: whether the same people are asked for; else they are taken as independent groups.
    /// - Throws: `InputError` where people or arms don't match.
    package init(
        _ first: FolderValues, _ second: FolderValues, arm: String? = nil, isPaired: Bool = true
    ) throws(InputError) {
        self.first = first
        self.second = second
        self.isPaired = isPaired
        let isSame = isPaired ? first.identity.hasPeople(of: second.identity) : true
        let samePeople: Bool
        if let isSame { samePeople = isSame } else { samePeople = try Self.hasPeople(first, of: second) }
        guard samePeople else {
            throw InputError(
                file: second.folder.path, found: "other people than in \(first.folder.path)",
                expected: "the same ones, to be paired; --unpaired compares them as independent groups")
        }
        let names = (first.study.arms.map(\.name), second.study.arms.map(\.name))
        if let arm {
            for (folder, known) in [(first, names.0), (second, names.1)] where !known.contains(arm) {
                throw InputError(
                    file: folder.folder.path, found: "no arm \(printable(arm, limit: 100))",
                    expected: oneOf(known, meant: arm))
            }
        }
        let common = names.0.filter { names.1.contains($0) && (arm ?? $0) == $0 }
        if common.isEmpty, names.0.count == 1, names.1.count == 1 {
            arms = [(names.0[0], names.1[0])]
        } else {
            arms = common.map { ($0, $0) }
        }
        guard !arms.isEmpty else {
            throw InputError(
                file: second.folder.path,
                found: "the arms " + printable(names.1.joined(separator: ", "), limit: 400),
                expected: "one of " + printable(names.0.joined(separator: ", "), limit: 400)
                    + ", or one arm in each folder")
        }
    }

    /// Where one folder is of before there were roots: the other's people are drawn once more, and checked as they were then.
    /// - Throws: `InputError` where they can't be had here.
    private static func hasPeople(_ a: FolderValues, of b: FolderValues) throws(InputError) -> Bool {
        let (old, new) = a.identity.root == nil ? (a, b) : (b, a)
        do {
            let cohort = try new.study.cohort(studyPath: new.folder.path + "/")
            let root = try cohort.sums(of: [0..<cohort.count], jobs: 1).root
            let checksum = try RunIdentity.checksum(of: cohort, jobs: 1)
            return root == new.identity.root && checksum == old.identity.checksum
        } catch let problem as InputError {
            throw InputError(
                file: old.folder.path,
                found:
                    "the people's checksum of before there were roots (\(printable(problem.found, limit: 200)))",
                expected: "results of this version, or --unpaired")
        } catch {
            return false
        }
    }

    /// nil where no person has the outcome on both sides, or on either where they are not paired.
    package func row(_ metric: String, of arm: (first: String, second: String)) -> Row? {
        guard let (references, values) = compared(metric, arm) else { return nil }
        guard isPaired else {
            return independent(metric, values.map(\.value), references.map(\.value))
        }
        let stream = RandomStreams(seed: first.study.seed, subject: 0).stream(
            "compare", index: StudySummary.streamIndex(metric, arm.second))
        guard
            let found = StudySummary.compare(
                metric, arm.second, values, arm.first, references, stream: stream),
            let (mean, reference) = means(values, references)
        else { return nil }
        return Row(
            metric: metric, first: reference, second: mean, level: StudySummary.estimate(values.map(\.value)),
            difference: found.difference, ci95: found.ci95,
            standardError: found.standardError, p: found.p, n: found.n,
            isEqualInEveryPair: found.isEqualInEveryPair,
            withAny: PairedColumns.pairs(values, references).count { $0 != 0 || $1 != 0 },
            secondWithAny: values.count { $0.value != 0 }, areSame: areSame(arm))
    }

    private func areSame(_ arm: (first: String, second: String)) -> Bool {
        func digest(_ folder: FolderValues, _ name: String) -> String? {
            folder.study.arms.firstIndex { $0.name == name }.map { folder.digests[$0] }
        }
        return digest(first, arm.first) == digest(second, arm.second)
    }

    /// As they are compared: of both folders together, since what is worst is the same on both sides.
    private func compared(
        _ metric: String, _ arm: (first: String, second: String)
    ) -> (SubjectValues, SubjectValues)? {
        guard let outcome = Outcome.named(metric),
            let one = first.study.arms.firstIndex(where: { $0.name == arm.first }),
            let other = second.study.arms.firstIndex(where: { $0.name == arm.second }),
            first.study.arms[one].alerts.isComparable(with: second.study.arms[other].alerts, by: metric)
        else { return nil }
        let columns = first.ended.joined(with: second.ended)
            .charged(first.values(metric) + second.values(metric), outcome)
        return (columns[one], columns[first.study.arms.count + other])
    }

    /// How many of an arm ended early on each side.
    func ended(_ arm: (first: String, second: String)) -> (first: Int, second: Int) {
        func count(_ folder: FolderValues, _ name: String) -> Int {
            folder.study.arms.firstIndex { $0.name == name }.map { folder.ended.count($0) } ?? 0
        }
        return (count(first, arm.first), count(second, arm.second))
    }

    /// Over those whom both have.
    private func means(_ values: SubjectValues, _ references: SubjectValues) -> (Double, Double)? {
        let both = Set(values.map(\.subject)).intersection(references.map(\.subject))
        guard
            let mean = try? Statistics.mean(values.filter { both.contains($0.subject) }.map(\.value)),
            let reference = try? Statistics.mean(
                references.filter { both.contains($0.subject) }.map(\.value))
        else { return nil }
        return (mean, reference)
    }

    private func independent(_ metric: String, _ values: [Double], _ references: [Double])
        -> Row?
    {
        guard let mean = try? Statistics.mean(values), let reference = try? Statistics.mean(references) else {
            return nil
        }
        var row = Row(
            metric: metric, first: reference, second: mean, level: StudySummary.estimate(values),
            difference: mean - reference,
            n: min(values.count, references.count), isEqualInEveryPair: false,
            withAny: (references + values).count { $0 != 0 }, secondWithAny: values.count { $0 != 0 })
        guard row.n >= Statistics.fewestPairs, let welch = try? Statistics.welch(values, references) else {
            return row
        }
        row.ci95 = .init(lower: welch.interval.lower, upper: welch.interval.upper)
        row.standardError = welch.standardError
        row.p = welch.p
        return row
    }
}

/// A bound that a difference must not cross, as `tbr_54_percent > +0.5`, or that the second folder itself must not, as `B: tbr_54_percent > 1`.
///
/// It is crossed unless the interval's end on its side says that it is not: what can't be told counts as crossed, since a check that passes
/// for want of people protects nobody. Nor does one that passes because nobody happened to have any: where fewer people than a study's gate takes have a value other than 0,
/// an interval of their mean covers far less than it says, nearly always by missing harm.
package struct DifferenceBound: Hashable, Sendable, CustomStringConvertible {
    package var metric: String
    /// Whether it is of the second folder alone; else of the difference.
    package var isLevel = false
    /// Whether the number has no sign, so that a reader might take a bound on a difference for one on a level.
    package var isUnsigned = false
    /// Whether more than the number is what must not be.
    package var isUpper: Bool
    /// Whether the number itself is too much.
    package var includesNumber: Bool
    package var number: Double
    package var description: String

    /// - Throws: `InputError` for what is no bound.
    package init(_ text: String, file: String) throws(InputError) {
        let form =
            "OUTCOME > NUMBER or OUTCOME < NUMBER, as in tbr_54_percent > +0.5, or with `B:` before it for B itself, as in B: tbr_54_percent > 1"
        let isLevel = text.trimmingPrefix(while: \.isWhitespace).hasPrefix("B:")
        let text = isLevel ? String(text[(text.firstIndex(of: ":") ?? text.startIndex)...].dropFirst()) : text
        guard let sign = text.firstIndex(where: { $0 == ">" || $0 == "<" }) else {
            throw InputError(file: file, found: quotedForMessage(text), expected: form)
        }
        let name = text[..<sign].trimmed
        var rest = text[text.index(after: sign)...]
        isUpper = text[sign] == ">"
        includesNumber = rest.first == "="
        if includesNumber { rest.removeFirst() }
        guard let number = Double(rest.trimmed), number.isFinite, !name.isEmpty else {
            throw InputError(file: file, found: quotedForMessage(text), expected: form)
        }
        let known = Outcome.everything.filter(\.isCompared).map(\.name)
        guard known.contains(name) else {
            throw InputError(
                file: file, found: "the outcome \(quotedForMessage(name))",
                expected: "one that arms are compared by"
                    + (nearest(to: name, among: known).map { " (nearest: `\($0)`)" } ?? "")
                    + "; docs/data.md lists them")
        }
        metric = name
        self.number = number
        self.isLevel = isLevel
        isUnsigned = !["+", "-"].contains(rest.trimmed.prefix(1))
        description =
            (isLevel ? "B: " : "") + "\(name) \(text[sign])\(includesNumber ? "=" : "") \(rest.trimmed)"
    }

    /// As it was given, or with its number in another unit of glucose.
    func text(in unit: GlucoseUnit) -> String {
        guard let known = Outcome.named(metric), unit.converts(known.unit) else { return description }
        let sign = (isUpper ? ">" : "<") + (includesNumber ? "=" : "")
        return
            (isLevel ? "B: " : "")
            + "\(unit.text(ofName: metric)) \(sign) \(StudySummary.rounded(number * unit.factor(of: known.unit), 3))"
    }

    /// How it was read, where that is not said by it.
    package var warning: String? {
        guard isUnsigned, !isLevel else { return nil }
        let (sign, other) = (isUpper ? ">" : "<", number < 0 ? "" : "+")
        return
            "`\(description)` was read as a bound on the difference B - A; write `\(metric) \(sign) \(other)\(JSONValue.numberText(number))` to say so, or `B: \(metric) \(sign) \(JSONValue.numberText(number))` for a bound on B itself"
    }

    /// Whether the difference can't be told to keep within the bound.
    package func isCrossed(by row: FolderComparison.Row) -> Bool {
        guard let end = end(of: row) else { return true }
        if includesNumber { return isUpper ? end >= number : end <= number }
        return isUpper ? end > number : end < number
    }

    /// The interval's end on the bound's side; nil where there is no interval.
    package func end(of row: FolderComparison.Row) -> Double? {
        guard !hasTooFew(row) else { return nil }
        if isLevel {
            return row.level.flatMap {
                $0.n < Statistics.fewestPairs ? nil : isUpper ? $0.ci95?.upper : $0.ci95?.lower
            }
        }
        if row.isEqualInEveryPair { return row.n >= Statistics.fewestPairs ? 0 : nil }
        return isUpper ? row.ci95?.upper : row.ci95?.lower
    }

    /// Whether too few people have any of it for an interval to say what it says.
    package func hasTooFew(_ row: FolderComparison.Row) -> Bool {
        if isLevel { return row.secondWithAny < min(row.level?.n ?? row.n, StudyClaims.fewestWithLows) }
        return !row.areSame && row.withAny < min(row.n, StudyClaims.fewestWithLows)
    }
}

extension Substring {
    fileprivate var trimmed: String {
        var text = self
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
