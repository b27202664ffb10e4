// What was decided, and the order in which one instant's decisions are told.

import Records
import SessionTime

extension AlertEngine {
    mutating func emit(
        _ kind: AlertEffect.Kind, _ rule: Int, _ reason: AlertEffect.Reason, at now: Instant,
        _ adjust: (inout AlertEffect) -> Void = { _ in }
    ) {
        let track = state.tracks[rule]
        var effect = AlertEffect(
            instant: now, kind: kind, code: policy.rules[rule].code,
            severity: track.active?.severity ?? track.details.severity ?? policy.rules[rule].severity,
            reason: reason, rule: rule)
        switch kind {
        case .raise, .update, .refresh, .notify: effect.message = track.active?.message ?? ""
        case .clear, .withdraw, .route, .suppress, .schedule, .acknowledge, .snooze, .wait, .drop: break
        }
        adjust(&effect)
        if case .some = blame { blame?.take(effect) }
        if !isSettling { touch(rule) }
        if let place = groups.firstIndex(where: { $0.rule == rule }) {
            groups[place].effects.append(effect)
        } else {
            groups.append((rule, [effect]))
        }
    }

    /// Clears by replacement, then by the order of the inputs, then what time alone has done; within each by code.
    mutating func gatherEffects() {
        guard !groups.isEmpty else { return }
        let sorted = groups.count > 1 ? groups.sorted { isBefore($0, $1) } : groups
        for group in sorted {
            effects += group.effects
            guard isShadow else { continue }
            let place = Place(
                isReplacement: Self.isReplacement(group),
                order: group.rule < 0 ? group.rule : orderOf[group.rule])
            for _ in group.effects { places.append(place) }
        }
        groups.removeAll(keepingCapacity: true)
    }

    private func isBefore(_ a: Group, _ b: Group) -> Bool {
        let (replacedA, replacedB) = (Self.isReplacement(a), Self.isReplacement(b))
        if replacedA != replacedB { return replacedA }
        // What has no rule any more is older than any input.
        if a.rule < 0 || b.rule < 0 { return a.rule < 0 && (b.rule >= 0 || a.rule > b.rule) }
        if orderOf[a.rule] != orderOf[b.rule] { return orderOf[a.rule] < orderOf[b.rule] }
        return codeRank[a.rule] < codeRank[b.rule]
    }

    private static func isReplacement(_ group: Group) -> Bool {
        group.effects.contains { $0.kind == .clear && $0.reason == .replaced }
            && !group.effects.contains { $0.kind == .raise }
    }

    /// What was decided since the last call.
    public mutating func takeEffects() -> [AlertEffect] {
        gatherEffects()
        defer { effects.removeAll(keepingCapacity: true) }
        return effects
    }
}
