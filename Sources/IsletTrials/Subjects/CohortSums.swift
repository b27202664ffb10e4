// Who the people of a study are, as checksums that any part of them can be checked by.
//
// Guarantees: a person's digest is the `subject_checksum` of journals; a block is 1000 people in a row (the last one has the rest), its digest the SHA-256
// of their lines `INDEX:DIGEST`; the root is the SHA-256 of `people COUNT` and the blocks' lines `BLOCK:DIGEST`. So shards that draw their own people each
// keep what they know, and joined they have the root that a whole run has. Of a whole block the people's own digests are not kept.
// Does not: find out who changed what; that is for the hashes of files.
//
// `cohort.csv`: `block,INDEX,SHA-256` for each whole block, `person,INDEX,DIGEST` for everybody else that is known, by index.

import IsletFiles
import IsletKernel
package import IsletDevices

package struct CohortSums: Hashable, Sendable {
    /// People in a row whose digests are joined into one.
    package static let blockSize = 1000
    package static let fileName = "cohort.csv"

    /// How many people the cohort has.
    package let count: Int
    private var blocks: [Int: String] = [:]
    /// Checksums of people in blocks that are not whole, by block and index.
    private var people: [Int: [Int: String]] = [:]

    package init(count: Int) { self.count = count }

    /// How many people are known.
    package var known: Int {
        blocks.keys.reduce(people.values.reduce(0) { $0 + $1.count }) { $0 + range(ofBlock: $1).count }
    }

    private func range(ofBlock block: Int) -> Range<Int> {
        block * Self.blockSize..<min(count, (block + 1) * Self.blockSize)
    }

    package func has(_ index: Int) -> Bool {
        let block = index / Self.blockSize
        return blocks[block] != nil || people[block]?[index] != nil
    }

    package mutating func add(_ digest: String, at index: Int) {
        let block = index / Self.blockSize
        guard blocks[block] == nil else { return }
        people[block, default: [:]][index] = digest
        join(block)
    }

    private mutating func join(_ block: Int) {
        let range = range(ofBlock: block)
        guard let found = people[block], found.count == range.count else { return }
        var hash = SHA256()
        for index in range { hash.update(Array("\(index):\(found[index] ?? "")\n".utf8)) }
        blocks[block] = hash.finished().description
        people[block] = nil
    }

    /// Adds what another part of the cohort knows.
    /// - Returns: whom the two know differently: `person 17`, `block 3`; nothing where they agree.
    package mutating func add(_ other: CohortSums) -> [String] {
        let found = differences(from: other)
        for (block, digest) in other.blocks.sorted(by: { $0.key < $1.key }) {
            blocks[block] = blocks[block] ?? digest
            people[block] = nil
        }
        for (block, digests) in other.people.sorted(by: { $0.key < $1.key }) where blocks[block] == nil {
            people[block, default: [:]].merge(digests) { mine, _ in mine }
            join(block)
        }
        return found
    }

    /// Whom both know, and know differently.
    package func differences(from other: CohortSums) -> [String] {
        guard count == other.count else { return ["\(count) people and \(other.count)"] }
        let differing = blocks.filter { (other.blocks[$0.key] ?? $0.value) != $0.value }.keys.sorted()
        var persons: [Int] = []
        for (block, digests) in people {
            for (index, digest) in digests where (other.people[block]?[index] ?? digest) != digest {
                persons.append(index)
            }
        }
        return differing.map { "block \($0)" } + persons.sorted().map { "person \($0)" }
    }

    /// The root over everybody; nil while somebody isn't known.
    package var root: String? {
        let count = (count + Self.blockSize - 1) / Self.blockSize
        guard blocks.count == count else { return nil }
        var hash = SHA256()
        hash.update(Array("people \(self.count)\n".utf8))
        for block in 0..<count { hash.update(Array("\(block):\(blocks[block] ?? "")\n".utf8)) }
        return hash.finished().description
    }

    // MARK: Files

    package var csv: String {
        var text = "of,index,digest\n"
        let all = Set(blocks.keys).union(people.keys).sorted()
        for block in all {
            if let digest = blocks[block] { text += "block,\(block),\(digest)\n" }
            for (index, digest) in (people[block] ?? [:]).sorted(by: { $0.key < $1.key }) {
                text += "person,\(index),\(digest)\n"
            }
        }
        return text
    }

    /// - Throws: `InputError` for what isn't such a file.
    package init(_ bytes: [UInt8], file: String, count: Int) throws(InputError) {
        self.count = count
        var csv = try CSVText(bytes, file: file)
        guard let header = try csv.next(), header.fields == ["of", "index", "digest"] else {
            throw csv.problem(1, "another header", "of,index,digest")
        }
        while let row = try csv.next() {
            guard row.fields.count == 3, let index = Int(row.fields[1]) else {
                throw csv.problem(row.line, "another row", "block or person, an index, a digest")
            }
            let digest = row.fields[2]
            switch row.fields[0] {
            case "block" where index >= 0 && index * Self.blockSize < count:
                blocks[index] = digest
            case "person" where (0..<count).contains(index):
                people[index / Self.blockSize, default: [:]][index] = digest
            default:
                throw csv.problem(
                    row.line, "\(quoted(row.fields[0])) \(index)",
                    "a block or a person of a cohort of \(count)")
            }
        }
        for block in people.keys.sorted() where blocks[block] == nil { join(block) }
    }
}

extension ResultFolder {
    /// The most bytes that `cohort.csv` may have: everybody of the largest study by themselves.
    private static let sumsBytes = 128 << 20

    package var sumsPath: String { file(CohortSums.fileName) }

    /// The sums of the people whose sessions are here; nil for results of an Islet that kept none.
    package func sums(count: Int) throws -> CohortSums? {
        guard isRegularFile(sumsPath) else { return nil }
        return try CohortSums(
            readInput(sumsPath, limitBytes: Self.sumsBytes, onlyRegular: true), file: sumsPath, count: count)
    }
}
