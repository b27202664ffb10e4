// What stands beside a folder's results: people, policies, plan, and what the store says of itself.

import Foundation
import IsletDevices
import IsletFiles
import IsletKernel
import IsletModels

extension FolderVerification {
    /// Policies and plan as they stand in the folder.
    func inputs(_ study: Study) throws -> [String] {
        var findings: [String] = []
        let policies = folder.file(ResultFolder.policies)
        if try isThere(policies) {
            let found = try JSONValue.read(
                readInput(policies, limitBytes: Study.writtenBytes, onlyRegular: true), file: policies)
            findings += Self.differing(found, study.policiesJSON).map {
                "\(ResultFolder.policies): \(printable($0, limit: 100)) is not the policy of the study"
            }
        }
        guard let registration = try folder.registration() else { return findings }
        let plan = try folder.plan(of: study)
        let isOfBefore =
            try study.hasPlugins && folder.plan(of: study, isPlaced: true).digest == registration.digest
        if plan.digest != registration.digest, !isOfBefore {
            findings += plan.differences(from: registration.plan).map {
                "\(Registration.name): the plan was changed: \($0)"
            }
        }
        if try isThere(folder.manifestPath), try folder.manifest()["plan"] == nil {
            findings.append("manifest.json: has no plan, and \(Registration.name) is there")
        } else if try isThere(folder.manifestPath),
            let told = try folder.manifest()["plan"]
        {
            let (digest, isRegistered, isBefore) = (
                try told["digest"]?.text() ?? "", try told["registered"]?.flag() ?? false,
                try told["before_first_session"]?.flag() ?? false
            )
            if digest != registration.digest || isRegistered != registration.isRegistered
                || isBefore != registration.isBeforeFirstSession
            {
                findings.append("manifest.json: plan is not the one of \(Registration.name)")
            }
        }
        return findings
    }

    /// Names of members that are not the same.
    private static func differing(_ found: JSONValue, _ expected: JSONValue) -> [String] {
        guard case .object(let members) = expected, case .object(let others) = found else { return ["it"] }
        let changed = members.filter { found[$0.key]?.compactText != $0.value.compactText }.map(\.key)
        return changed + others.map(\.key).filter { expected[$0] == nil }
    }

    /// What the store says of itself.
    func facts(_ store: any ResultStore, _ study: Study) throws -> [String] {
        guard let facts = try store.facts() else { return [] }
        var findings: [String] = []
        let calendar = study.start.calendar
        for (name, found, expected) in [
            ("start", facts.start, calendar.iso8601(at: .start)),
            ("start_unix_s", "\(facts.startEpochSeconds)", "\(calendar.startEpochSeconds)"),
            ("utc_offset_s", "\(facts.offsetSeconds)", "\(calendar.offsetSeconds)"),
        ] where found != expected {
            findings.append(
                "study.sqlite: study: \(name) is \(printable(found, limit: 60)), the study says \(expected)")
        }
        guard try isThere(folder.manifestPath) else { return findings }
        let root = try folder.manifest()
        // Another program may have gone on with it.
        if root["earlier_programs"] == nil, let version = try root["version"]?.text(),
            version != facts.version
        {
            findings.append(
                "study.sqlite: study: version is \(printable(facts.version, limit: 40)), manifest.json says \(printable(version, limit: 40))"
            )
        }
        return findings
    }

    /// Whether the people in the folder are those of the study.
    /// - Parameters:
    ///   - own: whose sessions the folder has.
    ///   - lived: those who were drawn, rising; of the others nothing is said unless these are all.
    ///   - isAll: whether the file is compared as a whole.
    func people(
        _ study: Study, _ cohort: any StudyCohort, own: [Range<Int>], _ lived: [Int], isAll: Bool
    ) throws -> [String] {
        let path = folder.file(ResultFolder.people)
        // A table is what the people are read from: the cohort's checksum is of it.
        guard case .generate = study.cohort, let cohort = cohort as? PeopleCohort,
            try isThere(path)
        else { return [] }
        let found = try readInput(path, limitBytes: ResultFolder.peopleBytes, onlyRegular: true)
        if isAll, let everybody = try cohort.everybody(in: own) {
            return found == Array(CohortGenerator.csv(everybody).utf8)
                ? [] : ["\(ResultFolder.people): is not the people of the study"]
        }
        // Rows stand by index, the header before them.
        let lines = zip(own.joined(), found.split(separator: UInt8(ascii: "\n")).dropFirst())
        let rows = Dictionary(lines, uniquingKeysWith: { first, _ in first })
        return try lived.compactMap { index in
            let person = try cohort.member(index)
            let row = CohortGenerator.csv([person]).split(separator: "\n").last.map { Array($0.utf8) }
            let isThere = row.map { $0[...] == rows[index] } ?? false
            return isThere ? nil : "\(ResultFolder.people): \(person.name) is not the study's"
        }
    }
}
