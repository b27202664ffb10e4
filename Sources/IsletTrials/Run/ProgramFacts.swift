// Which program made results: a manifest records it, and nothing compares it.
//
// Guarantees: reads the running program's own file, also where a newer build has taken its place since; asks no other program; the commit is
// what was checked out when the program was built. It is nil where that is not known: where the program lies neither in the `.build` of a
// checkout of Islet nor in an unpacked package that lists it, and where the checkout has moved since the build.
// Does not: know of changes that were not committed. The SHA-256 tells programs apart, the commit only helps to find the source.

package import IsletDevices
import IsletFiles
import IsletKernel
import Foundation
import Glibc
import Synchronization

package struct ProgramFacts: Hashable, Sendable {
    /// Lower-case hex; nil where the program could not be read.
    package var sha256: String?
    /// What was checked out when it was built; nil where that is not known.
    package var commit: String?

    package init(sha256: String? = nil, commit: String? = nil) {
        self.sha256 = sha256
        self.commit = commit
    }

    /// Facts of the running program. The hash takes about 0.1 s, once: a run and its report are made by one program.
    static let here: ProgramFacts = {
        let hash = hashOfProgram()
        return ProgramFacts(
            sha256: hash,
            commit: programPath().flatMap { path in
                // The link leads to the file that runs, whatever lies at its path by now.
                Checkout.changed("/proc/self/exe").flatMap { Checkout.commit(ofProgram: path, builtAt: $0) }
                    ?? hash.flatMap { Package.commit(ofProgram: path, sha256: $0) }
            })
    }()

    /// Whose results a folder holds, by its manifest; none where it doesn't tell.
    /// - Throws: `InputError` where it can't be read for now: what was written anew then would lack them for good.
    package static func recorded(in folder: ResultFolder) throws(InputError) -> [ProgramFacts] {
        let root: YAMLReader
        do throws(InputError) { root = try folder.manifest() } catch {
            if error.kind == .temporary { throw error }
            return []
        }
        func facts(_ reader: YAMLReader) -> ProgramFacts? {
            let hash = try? reader["program_sha256"]?.text()
            guard let hash, hash.isHex, hash.utf8.count == 64 else { return nil }
            let commit = try? reader["commit"]?.text()
            return ProgramFacts(sha256: hash, commit: commit.flatMap { $0.isHex ? $0 : nil })
        }
        let earlier = root["earlier_programs"]?.items ?? []
        return ([facts(root)] + earlier.map(facts)).compactMap(\.self)
    }

    var members: [JSONValue.Member] {
        [
            .init("program_sha256", sha256.map { .string($0) } ?? .null),
            .init("commit", commit.map { .string($0) } ?? .null),
        ]
    }

    private static func programPath() -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    }

    private static func hashOfProgram() -> String? {
        let descriptor = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return withUnsafeTemporaryAllocation(byteCount: 1 << 18, alignment: 16) { buffer in
            var hash = SHA256()
            while true {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { return nil }
                guard count > 0 else { return hash.finished().description }
                hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        }
    }
}

/// The program that runs, read on a thread of its own while sessions run.
package final class RunningProgram: Sendable {
    private let found: Mutex<ProgramFacts>
    private let thread: Mutex<Workers.Handle?>

    /// - Parameter tell: is given the facts once they are known, on the thread; `facts` waits for it.
    package init(tell: @escaping @Sendable (ProgramFacts) -> Void = { _ in }) {
        found = Mutex(ProgramFacts())
        thread = Mutex(nil)
        // Without a thread the facts stay unknown.
        let started = try? Workers.start(jobs: 1) { [self] in
            let facts = ProgramFacts.here
            found.withLock { $0 = facts }
            tell(facts)
        }
        thread.withLock { $0 = started }
    }

    /// Waits until they are known.
    package var facts: ProgramFacts {
        thread.withLock { handle in
            handle?.wait()
            handle = nil
        }
        return found.withLock { $0 }
    }
}

/// The checkout that a program was built in, by plain reading.
enum Checkout {
    /// The commit that is checked out around `.build/.../program`, and was when the program was built.
    /// - Parameter builtAt: since 1970, ns.
    static func commit(ofProgram program: String, builtAt: Int64) -> String? {
        let parts = program.split(separator: "/")
        guard let build = parts.lastIndex(of: ".build") else { return nil }
        let root = "/" + parts[..<build].joined(separator: "/")
        guard FileManager.default.fileExists(atPath: root + "/Sources/islet/Islet.swift") else { return nil }
        var folder = URL(filePath: root)
        while folder.path() != "/" {
            let head = Head(gitAt: folder.appending(path: ".git").path(percentEncoded: false))
            if let head, let found = head.commit { return head.moved <= builtAt ? found : nil }
            folder = folder.deletingLastPathComponent().standardizedFileURL
        }
        return nil
    }

    /// When a file was written last, since 1970, ns; nil where it isn't there.
    static func changed(_ path: String) -> Int64? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
    }

    /// What is checked out, and since when.
    private struct Head {
        var commit: String?
        /// The last commit, checkout or reset: since 1970, ns.
        var moved: Int64

        /// - Parameter path: the repository, or the file that stands for it in a worktree.
        init?(gitAt path: String) {
            var git = path
            if let pointer = text(path) {
                guard pointer.hasPrefix("gitdir: ") else { return nil }
                git = absolute(String(pointer.dropFirst(8)), in: (path as NSString).deletingLastPathComponent)
            }
            guard let head = text(git + "/HEAD") else { return nil }
            moved = [git + "/HEAD", git + "/logs/HEAD"].compactMap(changed).max() ?? .max
            guard head.hasPrefix("ref: ") else {
                commit = Checkout.commit(head)
                return
            }
            let name = String(head.dropFirst(5))
            let common = text(git + "/commondir").map { absolute($0, in: git) } ?? git
            for place in [git, common] {
                guard let found = text(place + "/" + name).flatMap({ Checkout.commit($0) }) else { continue }
                commit = found
                moved = max(moved, changed(place + "/" + name) ?? .max)
                return
            }
            for line in (text(common + "/packed-refs") ?? "").split(separator: "\n")
            where line.hasSuffix(" " + name) {
                commit = Checkout.commit(String(line.prefix { $0 != " " }))
            }
        }
    }

    fileprivate static func commit(_ text: String) -> String? {
        text.isHex && [40, 64].contains(text.utf8.count) ? text : nil
    }

    private static func absolute(_ path: String, in folder: String) -> String {
        path.hasPrefix("/") ? path : folder + "/" + path
    }

    /// nil for a directory, and for what isn't there.
    fileprivate static func text(_ path: String) -> String? {
        (try? String(contentsOfFile: path, encoding: .utf8))?
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

/// A package that `make package` wrote, unpacked: `bin` with the programs, and beside it `built.txt`, which names the commit and each program's SHA-256.
enum Package {
    /// - Returns: nil for a program that the package does not list: another one was put there.
    static func commit(ofProgram program: String, sha256: String) -> String? {
        let root = URL(filePath: program).deletingLastPathComponent().deletingLastPathComponent()
        let lines = Checkout.text(root.appending(path: "built.txt").path(percentEncoded: false))?
            .split(separator: "\n")
        guard let lines, let commit = lines.first, commit.hasPrefix("commit "),
            lines.contains(where: { $0.hasPrefix(sha256 + " ") })
        else { return nil }
        return Checkout.commit(String(commit.dropFirst(7)))
    }
}

extension String {
    fileprivate var isHex: Bool {
        !isEmpty && utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
