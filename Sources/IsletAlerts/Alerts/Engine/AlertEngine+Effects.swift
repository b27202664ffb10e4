// What was decided, and the order in which one instant's decisions are told.

import IsletDevices
import IsletKernel

extension AlertEngine {
    mutating func emit(
        _ kind: AlertEffect.Kind, _ rule: Int, _ reason: AlertEffect.Reason, at now: Instant,
        _ adjust: (inout AlertEffect) -> Void = { _ in }
    ) {
        // Field by field: a track is large to copy.
        var effect = AlertEffect(
            instant: now, kind: kind, code: policy.rules[rule].code,
            severity: state.tracks[rule].active?.severity ?? state.tracks[rule].details.severity
                ?? policy.rules[rule].severity,
            reason: reason, rule: rule)
        switch kind {
        case .raise, .update, .refresh, .notify: effect.message = state.tracks[rule].active?.message ?? ""
        case .clear, .withdraw, .route, .suppress, .schedule, .acknowledge, .snooze, .wait, .drop: break
        }
        adjust(&effect)
        if case .some = blame { blame?.take(effect) }
        if !isSettling { touch(rule) }
        fresh.append(effect)
    }

    /// Clears by replacement, then by the order of the inputs, then what time alone has done; within each by code.
    mutating func gatherEffects() {
        if fresh.isEmpty, orphaned.isEmpty { return }
        if orphaned.isEmpty, let rule = fresh.first?.rule, fresh.allSatisfy({ $0.rule == rule }) {
            // One rule's stand as they came.
            note(rule, fresh)
            effects += fresh
        } else {
            var groups = orphaned
            for effect in fresh {
                if let place = groups.firstIndex(where: { $0.rule == effect.rule }) {
                    groups[place].effects.append(effect)
                } else {
                    groups.append((effect.rule, [effect]))
                }
            }
            for group in groups.sorted(by: { isBefore($0, $1) }) {
                note(group.rule, group.effects)
                effects += group.effects
            }
            orphaned = []
        }
        fresh.removeAll(keepingCapacity: true)
    }

    /// Where they stand, for who puts the effects of many engines in order.
    private mutating func note(_ rule: Int, _ some: [AlertEffect]) {
        guard isShadow else { return }
        let place = Place(
            isReplacement: Self.isReplacement(some), order: rule < 0 ? rule : orderOf[rule])
        for _ in some { places.append(place) }
    }

    private func isBefore(_ a: Group, _ b: Group) -> Bool {
        let (replacedA, replacedB) = (Self.isReplacement(a.effects), Self.isReplacement(b.effects))
        if replacedA != replacedB { return replacedA }
        // What has no rule any more is older than any input.
        if a.rule < 0 || b.rule < 0 { return a.rule < 0 && (b.rule >= 0 || a.rule > b.rule) }
        if orderOf[a.rule] != orderOf[b.rule] { return orderOf[a.rule] < orderOf[b.rule] }
        return codeRank[a.rule] < codeRank[b.rule]
    }

    private static func isReplacement(_ some: [AlertEffect]) -> Bool {
        some.contains { $0.kind == .clear && $0.reason == .replaced }
            && !some.contains { $0.kind == .raise }
    }

    /// What was decided since the last call.
    public mutating func takeEffects() -> [AlertEffect] {
        gatherEffects()
        defer { effects.removeAll(keepingCapacity: true) }
        return effects
    }
}
