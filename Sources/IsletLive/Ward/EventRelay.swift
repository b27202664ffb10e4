// Events between a session's replay and its host.

/// Events of a session that has no host yet, and then the host's.
final class EventRelay: @unchecked Sendable {
    private(set) var held: [LiveEvent] = []
    private var listener: ((LiveEvent) -> Void)?

    func take(_ event: LiveEvent) {
        if let listener { listener(event) } else { held.append(event) }
    }

    func pass(to listener: @escaping (LiveEvent) -> Void) {
        for event in held { listener(event) }
        held = []
        self.listener = listener
    }
}
