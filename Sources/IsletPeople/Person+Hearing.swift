// What reaches a person: rings, banners, the feeling of a low.

import IsletAlerts
import IsletDevices
import IsletKernel

extension Person {
    /// A notification rings. Whether it is heard is settled here; what comes of it, in the person's phase.
    func hear(_ ring: AlertRing) -> Bool {
        guard state != nil else { return false }
        let now = executor.now
        let (n, isFirst) = state?.count(ring.topic, at: now) ?? (n: 0, isFirst: true)
        let isAsleep = state?.isAsleep(at: now) ?? false
        let isNight = state?.isNight(at: now) ?? false
        let isFirstOfNight = isAsleep && state?.isFirstOfNight(ring.topic, at: now) ?? false
        guard let ears = state?.ears(ring.topic, at: now, n: n, isAsleep: isAsleep, isFirst: isFirstOfNight)
        else { return false }
        let isHeard = ears.own != nil || ears.parents != nil
        executor.journal.record(
            .rang, at: now, UInt64(ring.topic.rawValue), ears.own != nil ? 1 : isHeard ? 2 : 0,
            isAsleep ? 1 : 0, UInt64(n))
        let kind: PersonRow.Kind =
            ears.own != nil
            ? (isAsleep ? .woke : .heard) : isHeard ? .parentHeard : (isAsleep ? .sleptOn : .unheard)
        recorder.did(kind, Double(n + 1), at: now, code: ring.code)
        if ring.topic == .low { noteLowRang(isFirst: isFirst, isNight: isNight, at: now) }
        guard isHeard else {
            state?.counts.unheard.add(1, atNight: isNight)
            return false
        }
        state?.counts.heard.add(1, atNight: isNight)
        state?.heard.append(
            PersonState.HeardAlert(
                topic: ring.topic, code: ring.code, glucoseBound: ring.glucoseBound))
        let delay = min(ears.own ?? .infinity, ears.parents ?? .infinity)
        // Whom a parent comes for is woken, too.
        if isAsleep { state?.counts.wakings.append(now) }
        attendBy(now.adding(PersonState.nanoseconds(delay)))
        return true
    }

    /// From the first ring about a low to its first bite counts, once a low.
    private func noteLowRang(isFirst: Bool, isNight: Bool, at now: Instant) {
        if isFirst { state?.hasEatenInLow = false }
        if isFirst || state?.lowRang == nil && state?.hasEatenInLow == false {
            state?.lowRang = (now, isNight)
        }
    }

    /// The app is in front, and shows it.
    func see(_ ring: AlertRing) {
        guard state?.closesAt != nil else { return }
        state?.heard.append(
            PersonState.HeardAlert(
                topic: ring.topic, code: ring.code, glucoseBound: ring.glucoseBound))
        attendBy(executor.now.adding(Self.glance))
    }

    /// From what appears in front of somebody to their answer (assumed).
    private static let glance = 5 * Nanoseconds.second
    /// Two instants of being low that are farther apart belong to two lows.
    private static let lowGap = 30 * Nanoseconds.minute

    /// The body is low now. Once a low it is settled whether that can be felt, awake or asleep.
    func feel(_ plasma: GlucoseConcentration) {
        let now = executor.now
        state?.plasma = (now, plasma.milligramsPerDecilitre)
        help(plasma.milligramsPerDecilitre, at: now)
        guard let settings = state?.settings, settings.feelsAwake > 0 || settings.feelsAsleep > 0,
            plasma.milligramsPerDecilitre < settings.feelsBelow
        else { return }
        if state?.lastLow.map({ now.nanoseconds - $0.nanoseconds > Self.lowGap }) ?? true {
            let draw = state?.draws.feeling(at: now) ?? 1
            state?.lowDraw = draw
            state?.feltAt = nil
        }
        state?.lastLow = now
        let isAsleep = state?.isAsleep(at: now) ?? false
        guard let draw = state?.lowDraw, draw < (isAsleep ? settings.feelsAsleep : settings.feelsAwake) else {
            return
        }
        let isNews = state?.feltAt == nil
        state?.feltAt = now
        if isNews {
            executor.journal.record(.felt, at: now, isAsleep ? 1 : 0)
            recorder.did(isAsleep ? .feltAsleep : .felt, plasma.milligramsPerDecilitre, at: now)
            let isNight = state?.isNight(at: now) ?? false
            state?.counts.felt.add(1, atNight: isNight)
            if isAsleep { state?.counts.wakings.append(now) }
        }
        // Somebody who is about to act already, or waits for what they ate, does nothing more. A look that was planned about a high comes too late.
        let soon = now.adding(PersonState.nanoseconds(max(settings.rescueWait, settings.mealWait)))
        let looksSoon = state?.rechecksAt.map { $0 <= soon } ?? false
        guard state?.attendsAt == nil, state?.bites == nil, !looksSoon else { return }
        let z = state?.draws.action(.feltDelay, at: now).normal ?? 0
        attendBy(
            now.adding(
                PersonState.nanoseconds(
                    PersonState.logNormal(settings.awakeDelay, settings.awakeDelaySpread, z))))
    }

    /// Somebody else sees that this is a low, and feeds them.
    private func help(_ plasma: Double, at now: Instant) {
        guard let settings = state?.settings, plasma < settings.helpedBelow, state?.bites == nil,
            let draw = state?.draws.action(.helped, at: now), draw.uniform < settings.helped,
            state?.lastRescue.map({
                now.nanoseconds - $0.nanoseconds >= PersonState.nanoseconds(settings.rescueWait)
            }) ?? true
        else { return }
        let grams = min(settings.severeRescue, settings.largestRescue).rounded(.down)
        guard grams >= 1 else { return }
        let delay = PersonState.logNormal(settings.fetch, settings.fetchSpread, draw.other)
        let at = now.adding(PersonState.nanoseconds(delay))
        state?.bites = (at, grams)
        state?.stayAwake(from: now, until: at)
        scheduleNext()
    }

    /// Looks at `instant`, or sooner where that was planned already; awake until then.
    private func attendBy(_ instant: Instant) {
        let soonest = min(state?.attendsAt ?? .distantFuture, instant)
        state?.attendsAt = soonest
        state?.stayAwake(from: executor.now, until: instant)
        scheduleNext()
    }
}
