// The plan of a study: what it asks and by which rules it will be judged. Registered before the first session, it can't be fitted to the results.
//
// Guarantees: a pure function of the resolved study; equal plans have equal digests; anything of the study that could be fitted to results (outcomes, margin, gate,
// selection, seeds, arms, people, scenario) changes the digest, and the parts that a reader asks for first are named one by one.
// Does not: prove a date. A clock that the study's own machine shows proves nothing; a stamp of the digest by somebody else does.

import IsletAlerts
package import IsletFiles
import IsletKernel
package import IsletDevices

package struct StudyPlan: Sendable {
    /// Its members stand in the order in which a reader is shown them.
    package let json: JSONValue

    /// SHA-256 over the plan on one line, hex.
    package var digest: String { SHA256.digest(of: Array(json.compactText.utf8)).description }

    /// - Parameters:
    ///   - tableSHA256: of the cohort's table, where the people come from one.
    ///   - isPlaced: as it was made before plans were of what programs are, and not of where they stand.
    package init(_ study: Study, tableSHA256: String?, isPlaced: Bool = false) {
        var design = isPlaced ? study : study.unplacingPrograms
        // The question stands in the plan by itself, and changes no session.
        design.question = nil
        json = [
            "study": .string(study.name),
            "question": study.question.map { .string($0) } ?? .null,
            "primary": .array(study.primary.map { .string($0) }),
            "margin": [Study.marginRow].members(of: study).first?.value ?? .null,
            "gate": study.margin == nil
                ? .null
                : [
                    "outcome": .string(study.gate), "one_sided_alpha": .number(StudyClaims.gateAlpha),
                    "fewest_people_with_lows": .integer(Int64(StudyClaims.fewestWithLows)),
                ],
            "other_primaries": .string("Holm over the other primary outcomes × arms, two-sided 0.05"),
            "selection": study.confirmSeed == nil
                ? .null
                : [
                    "select": .string(study.selects.rawValue),
                    "by": study.selector.map { .string($0.name) } ?? .null,
                    "among": .string(study.margin == nil ? "all arms" : "arms that pass the gate"),
                ],
            "exploratory": .string("every outcome that is not in `primary`"),
            "reference": study.reference.map { .string($0) } ?? .null,
            "reference_policy": study.referencePolicy.map { .string($0) } ?? .null,
            "seeds": [
                "study": .unsigned(study.seed),
                "confirm": study.confirmSeed.map { .unsigned($0) } ?? .null,
            ],
            "arms": .array(study.arms.map { .string($0.name) }),
            "table_sha256": tableSHA256.map { .string($0) } ?? .null,
            "study_sha256": .string(SHA256.digest(of: Array(design.json.compactText.utf8)).description),
        ]
    }

    /// Where another plan differs, a line a part; nothing for an equal one.
    package func differences(from other: JSONValue) -> [String] {
        guard case .object(let members) = json else { return [] }
        var lines = members.filter {
            other[$0.key]?.compactText != $0.value.compactText
        }.map { member in
            "\(member.key) was \(Self.text(other[member.key])), and is \(Self.text(member.value))"
        }
        // A part that differs changes the hash of the whole study, too: that is no news.
        if lines.count > 1 { lines.removeAll { $0.hasPrefix("study_sha256 ") } }
        return lines
    }

    private static func text(_ value: JSONValue?) -> String {
        printable(value?.compactText ?? "nothing", limit: 120)
    }
}

extension Study {
    /// Every alert policy by name, written out: presets too, whose texts otherwise stand in the program alone.
    var policiesJSON: JSONValue {
        var members: [JSONValue.Member] = []
        for policy in arms.map(\.alerts) + shadowPolicies
        where !members.contains(where: { $0.key == policy.name }) {
            members.append(.init(policy.name, policy.json))
        }
        return .object(members)
    }
}

/// A plan as it was registered: a file beside the study, and a copy in the folder of results.
package struct Registration: Sendable {
    package static let name = "plan.json"
    private static let format: UInt64 = 1
    private static let limit = 64 << 20

    package var plan: JSONValue
    package var digest: String
    /// By the clock of the machine that registered it; nil for a plan that was written by the run itself.
    package var registeredAt: String?
    /// Sessions that the folder had when the plan was put in.
    package var sessionsThen: Int?
    /// The seal: an HMAC over digest and date by somebody who had the key; nil for a plan without one.
    package var code: String?

    package init(_ plan: StudyPlan, registeredAt: String?) {
        (self.plan, digest, self.registeredAt) = (plan.json, plan.digest, registeredAt)
    }

    package var isRegistered: Bool { registeredAt != nil }
    /// Whether a registered plan was in the folder before its first session.
    package var isBeforeFirstSession: Bool { isRegistered && sessionsThen == 0 }

    /// What the seal of a plan is of.
    private var sealed: String { "islet plan 1\n\(digest)\n\(registeredAt ?? "")" }

    package mutating func seal(_ key: SealKey) { code = key.chained("", sealed) }

    /// Whether somebody with this key sealed it; nil for one without a seal.
    package func isSealed(with key: SealKey) -> Bool? {
        code.map { HMAC.equal($0, key.chained("", sealed)) }
    }

    package var json: JSONValue {
        .object(
            [
                .init("format", .unsigned(Self.format)), .init("digest", .string(digest)),
                .init("registered_at", registeredAt.map { .string($0) } ?? .null),
                .init(
                    "clock", .string("this machine's: a stamp of the digest by somebody else proves a date")),
            ] + (code.map { [.init("hmac_sha256", .string($0))] } ?? [])
                + (sessionsThen.map { [.init("sessions_then", .integer(Int64($0)))] } ?? [])
                + [.init("plan", plan)])
    }

    /// - Throws: `InputError` for what is no plan, and for one whose digest is not its own.
    package init(path: String) throws(InputError) {
        let bytes = try readInput(path, limitBytes: Self.limit, onlyRegular: true)
        let root = try JSONValue.read(bytes, file: path)
        func text(_ key: String) -> String? {
            if case .string(let text)? = root[key] { text } else { nil }
        }
        guard let plan = root["plan"], let digest = text("digest") else {
            throw InputError(
                file: path, found: "no plan", expected: "what `islet register STUDY` wrote")
        }
        self.plan = plan
        self.digest = digest
        registeredAt = text("registered_at")
        code = text("hmac_sha256")
        switch root["sessions_then"] {
        case .integer(let count)?: sessionsThen = Int(clamping: count)
        case .unsigned(let count)?: sessionsThen = Int(clamping: count)
        case .number(let count)? where count >= 0 && count < 1e9: sessionsThen = Int(count)
        default: break
        }
        let own = SHA256.digest(of: Array(plan.compactText.utf8)).description
        guard own == digest else {
            throw InputError(
                file: path, found: "a plan whose digest is \(own)",
                expected: "\(printable(digest, limit: 80)), as it says itself: it has been changed")
        }
    }

    /// One sentence for people.
    package var words: String {
        guard let registeredAt else {
            return "The plan was not registered before the run: nobody can know when it was written."
        }
        let when = "by the clock of the machine that registered it, \(printable(registeredAt, limit: 40))"
        return isBeforeFirstSession
            ? "The plan was registered before the first session (\(when); digest \(digest.prefix(16)))."
            : "The plan was registered after the first session of this folder (\(when))."
    }
}
