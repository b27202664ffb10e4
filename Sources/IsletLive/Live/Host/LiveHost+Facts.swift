// What a host says of its sessions, and what it refuses.

extension LiveHost {
    /// What a host says of one session, without asking it.
    package struct Status: Sendable {
        package var id: String
        package var snapshot: LiveSnapshot
        package var pace: LivePace
        /// Its advance has not returned for longer than the deadline, or nobody has advanced it for as long though it was due: nothing that
        /// is shown is sure.
        package var isFrozen: Bool
    }

    package struct DuplicateSession: Error, Hashable { package var id: String }

    /// Devices outside of a session go on at the pace at which they began.
    package struct OtherPace: Error, Hashable, CustomStringConvertible {
        package var known: LivePace?
        package var asked: LivePace
        package var description: String {
            "devices outside go on at \(known.map { "pace \($0)" } ?? "a pace that is a number"), found \(asked)"
        }
    }
}
