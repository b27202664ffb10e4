#!/usr/bin/env python3
"""Breaks the alert engine in one place at a time and says how many of the breaks the tests notice.

All breaks are compiled into one copy of the package, each behind a number that is read from the environment once: one build,
and then a run of the tests a break: the scenario files first, the quick Swift tests of the alerts where those notice nothing.

    python3 Tests/Tools/mutate_alerts.py [--work DIR] [--bar 95] [--only N,...] [--check]

Leaves with 1 below the bar, and with 2 where a break finds nothing to change any more, or stands in two places: a rename in the
engine must be followed here. `--check` looks for that only, and builds nothing. A kept `--work DIR` builds faster the next time.
"""
import argparse, concurrent.futures, glob, os, re, shutil, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ENGINE = "Sources/IsletAlerts/Alerts"
# What the engine and its tests need: targets, and of these the folders that are copied.
TARGETS = ["CGSL", "CIslet", "IsletKernel", "IsletNumerics", "IsletDevices", "IsletModels", "IsletAlerts", "IsletFiles", "AlertsTests"]
PARTS = [
    "Sources/CGSL", "Sources/CIslet", "Sources/IsletKernel", "Sources/IsletNumerics", "Sources/IsletDevices", "Sources/IsletModels/GrowRoom",
    ENGINE, "Sources/IsletAlerts/AlertMetrics", "Sources/IsletFiles/Charts", "Sources/IsletFiles/Documents", "Sources/IsletFiles/AlertFiles", "Tests/AlertsTests",
]
# `islet alerts test`, without the rest of `islet`.
PROGRAM = """import Glibc
import IsletFiles

var failed = 0
for path in CommandLine.arguments.dropFirst() {
    for one in try AlertScenario.read(path: path).cases where !one.run().passed { failed += 1 }
}
exit(failed == 0 ? 0 : 1)
"""
FILES = {
    "engine": "Engine/AlertEngine.swift", "values": "Engine/AlertEngine+Values.swift", "episodes": "Engine/AlertEngine+Episodes.swift",
    "annunciation": "Engine/AlertEngine+Annunciation.swift", "ahead": "Engine/AlertEngine+Ahead.swift", "lists": "Engine/AlertEngine+Lists.swift",
    "age": "Engine/AlertEngine+ReadingAge.swift", "effects": "Engine/AlertEngine+Effects.swift",
    "launch": "Engine/AlertEngine+Launch.swift", "prepared": "Engine/PreparedPolicy.swift", "message": "Engine/AlertMessage.swift",
    "flow": "Flow/AlertFlow.swift", "conditions": "Flow/AlertFlow+Conditions.swift", "rule": "Policy/AlertRule.swift",
    "policy": "Policy/AlertPolicy.swift", "limits": "Policy/AlertLimits.swift", "sync": "Policy/SettingsSync.swift",
    "clock": "Policy/WallClock.swift", "banner": "Center/AlertBanner.swift", "tallies": "Center/AlertTallies.swift",
    "trend": "Flow/GlucoseTrend.swift", "front": "Engine/AlertEngine+AfterFront.swift", "critical": "Engine/AlertEngine+Critical.swift",
    "reach": "Policy/AlertRule+Critical.swift",
    "native": "Catalogue/NativeIssues.swift", "severity": "Catalogue/AlertSeverity.swift",
}
# Quick tests of the alerts, for what no scenario file can say: settings, stores, requests, tallies.
SWIFT_TESTS = (
    "EngineTests|RequirementTests|ReadingAgeTests|PolicyFileTests|AlertTallyTests|PolicyChangeTests|SettingsSyncTests"
    "|PredictionTests|OwnMetricTests|ThresholdTests|AlertCenterTests|AlertBannerTests|CalmValuesTests|PolicyFieldTests|AlertTextTests"
    "|RingsOfADeadAppTests")

# (file, old, new[, near]): an expression and what it becomes. `old` stands once in its file, or once in the text `near`.
# Where `new` holds an @, it is the whole text in place of `old`, and @ is the condition that the break is on.
def gone(text):
    """A statement that is left out."""
    return "if !@ { " + text + " }"


def statement(name, text, near=None):
    return (name, text, gone(text)) + ((near,) if near else ())


FRESH = "isFresh(sample, isPrediction: known.isPrediction, at: now)"
MUTANTS = [
    # Values and verdicts
    ("engine", "sampledAt <= before.sampledAt", "sampledAt < before.sampledAt.adding(-1)"),
    ("engine", "now.nanoseconds - sampledAt.nanoseconds <= limits.freshness", "now.nanoseconds - sampledAt.nanoseconds < limits.freshness"),
    ("values", FRESH, "true"),
    ("episodes", "age == limits.freshness && !isPrediction", "false"),
    ("values", "!test.isBreached(by: sample.value)", "false"),
    ("values", "test.isCleared(by: sample.value)", "false"),
    ("engine", "now.nanoseconds - $0.sampledAt.nanoseconds > limits.freshness", "false"),
    ("values", "allBreached = false\n                continue\n            }", "if !@ { allBreached = false }\n                continue\n            }"),
    statement("values", "if test.isCleared(byAge: age) { return .away(.recovered) }"),
    statement("values", "if !test.isBreached(byAge: age) { allBreached = false }"),
    ("engine", "metric == .glucose ? noteReading(sampledAt: sampledAt, at: now) : false",
     "metric == .glucose && !@ ? noteReading(sampledAt: sampledAt, at: now) : false"),
    ("engine", "!isAtRest[rule] || followsAge[rule]", "!isAtRest[rule]"),
    ("values", "state.tracks[rule].details.severity = policy.rules[rule].severity(at: sample.value)",
     "state.tracks[rule].details.severity = @ ? nil : policy.rules[rule].severity(at: sample.value)"),
    ("values", "state.tracks[rule].values?.take(value, side)", "if !@ { state.tracks[rule].values?.take(value, side) }"),
    # Judging
    ("engine", "!state.tracks[rule].holds\n", "(@ || !state.tracks[rule].holds)\n", "let began = !state.tracks[rule].holds\n"),
    ("engine", "reason != .recovered", "false"),
    ("engine", "policy.rules[rule].isLatching, state.tracks[rule].active?.acknowledgedAt == nil",
     "!@, policy.rules[rule].isLatching, state.tracks[rule].active?.acknowledgedAt == nil"),
    ("engine", "max(base, escalated(rule))", "base"),
    ("engine", "base > ownBefore", "false"),
    ("engine", "base <= review.severity && !isOther ? review.at : nil", "isOther ? nil : review.at"),
    ("engine", "isReissue && policy.rules[rule].tests.contains { $0.metric.isNewsAfterReview }", "false"),
    ("engine", "value <= told - step", "value <= told - 2 * step"),
    ("engine", "isReissue || isWorse || severity != before", "isReissue"),
    ("engine", "isReissue || isWorse || severity > before", "true"),
    ("engine", "state.tracks[rule].details.severity ?? policy.rules[rule].severity > closed", "false"),
    statement("engine", "state.tracks[rule].closedSeverity = nil"),
    statement("engine", "if report.afterGap { forgetGap(rule, at: now) }"),
    ("engine", "!isKnownClear(rule, at: now)", "true"),
    ("engine", "report.isReissue || before.isReissue", "report.isReissue"),
    ("engine", "countdown != state.tracks[rule].active?.countdownTo", "false"),
    # The order of an instant's effects
    ("effects", "if replacedA != replacedB { return replacedA }", gone("if replacedA != replacedB { return replacedA }")),
    ("effects", "orderOf[a.rule] != orderOf[b.rule]", "false"),
    ("effects", "codeRank[a.rule] < codeRank[b.rule]", "codeRank[a.rule] > codeRank[b.rule]"),
    ("effects", "$0.kind == .clear && $0.reason == .replaced", "$0.kind == .clear"),
    # What is foretold
    statement("episodes", "if foretells[rule] { endPrediction(rule, at: now) }"),
    statement("engine", "if foretells[rule], !state.tracks[rule].isRealActive { forgetPrediction(rule) }"),
    statement("lists", "if foretells[rule] { considerPrediction(rule, consider) }"),
    statement("flow", "if new.isBetweenSensors { memory.monitor.trend = nil }"),
    ("flow", "if let last, sampledAt < last { return false }", gone("if let last, sampledAt < last { return false }")),
    ("trend", "Self.longestGap", "Self.longestGap * 4"),
    ("trend", "abs(reading.value - last.value) > largest", "false"),
    ("trend", "readings.count >= Self.fewest", "readings.count >= 2"),
    ("trend", "Self.shortest", "0"),
    ("trend", "first.sampledAt < oldest", "false"),
    # Time
    ("episodes", "now >= since.adding(policy.rules[rule].debounce)", "now > since.adding(policy.rules[rule].debounce)"),
    ("episodes", "now >= since.adding(policy.rules[rule].keepFiringFor)", "now > since.adding(policy.rules[rule].keepFiringFor)"),
    ("episodes", "!isFresh(sample, isPrediction: test.isPrediction, at: now)", "false"),
    ("episodes", "isStale(rule, at: now)", "false", "if isStale(rule, at: now) {"),
    ("episodes", "!isKnownClear(rule, at: now)", "true"),
    ("episodes", "if state.tracks[rule].isShown, state.tracks[rule].isQuiet {", "if !@, state.tracks[rule].isShown, state.tracks[rule].isQuiet {"),
    ("episodes", "state.tracks[rule].active?.acknowledgedAt == nil", "true", "if state.tracks[rule].active?.acknowledgedAt == nil { attempt"),
    ("episodes", "due.adding((missed + 1) * every)", "now.adding(every).adding(1)"),
    ("episodes", "now >= active.raisedAt.adding(step.after)", "now > active.raisedAt.adding(step.after)"),
    ("episodes", "active.review == nil, !active.isPreview", "@ || active.review == nil, !active.isPreview"),
    ("episodes", "step.to > active.severity", "true", "guard step.to > active.severity"),
    ("episodes", "due.adding((missed + 1) * Nanoseconds.minute)", "now.adding(Nanoseconds.minute)"),
    ("lists", "consider(state.tracks[rule].snoozedUntil)", gone("consider(state.tracks[rule].snoozedUntil)")),
    statement("lists", "consider(since.adding(policy.rules[rule].debounce))"),
    statement("lists", "consider(since.adding(policy.rules[rule].keepFiringFor))"),
    statement("lists", "consider(state.tracks[rule].nextRepeat)"),
    statement("lists", "consider(state.tracks[rule].nextRefresh)"),
    statement("lists", "for rule in ageRules { considerAge(rule, consider) }"),
    statement("lists", "if let quiet = policy.quietHours { consider(wallClock.nextLook(quiet, after: now)) }"),
    ("lists", "test.isPrediction ? 0 : 1", "1"),
    statement("lists", "consider(last.adding(prepared.cooldown(rule, at: severity)))"),
    statement("lists", "consider(raisedAt.adding(policy.rules[rule].escalations[escalationsDone].after))"),
    # Episodes
    statement("episodes", "state.tracks[rule].escalationsDone = 0"),
    ("episodes", "if state.tracks[rule].isShown {\n            // Delivered", "if !@, state.tracks[rule].isShown {\n            // Delivered"),
    ("episodes", "state.recentlyCleared.insert(cleared, at: 0)", "state.recentlyCleared.insert(cleared, at: @ ? state.recentlyCleared.count : 0)"),
    ("episodes", "state.tracks[rule].closedSeverity = active.ownSeverity", "state.tracks[rule].closedSeverity = @ ? nil : active.ownSeverity"),
    ("episodes", "case .closes:\n", "case .closes where @: return\n            case .closes:\n"),
    ("episodes", "case .reviews where isOver:", "case .reviews where isOver && !@:"),
    ("episodes", "at: now, severity: active.ownSeverity,", "at: now, severity: @ ? .safetyCritical : active.ownSeverity,"),
    ("episodes", "clearPreview(rule, .replaced, at: now)", gone("clearPreview(rule, .replaced, at: now)")),
    ("episodes", "for rule in byCode { clearPreview(rule, .cleanup, at: now) }", gone("for rule in byCode { clearPreview(rule, .cleanup, at: now) }")),
    ("episodes", "state.tracks[rule].snoozedUntil = now.adding(span)", "state.tracks[rule].snoozedUntil = now.adding(@ ? span / 2 : span)"),
    ("episodes", "state.tracks[rule].isOwed = true", gone("state.tracks[rule].isOwed = true")),
    ("episodes", "now.nanoseconds - since.nanoseconds >= policy.rules[rule].debounce", "now.nanoseconds - since.nanoseconds > policy.rules[rule].debounce"),
    ("episodes", "severity < .safetyCritical, let quiet", "@ || severity < .safetyCritical, let quiet"),
    # Annunciation
    ("annunciation", "severity <= inhibiting", "true"),
    ("annunciation", "state.tracks[other].isRealActive", "true"),
    ("annunciation", "return .inhibited", "if !@ { return .inhibited }"),
    ("annunciation", "if let until = snoozedUntil(rule, severity), now < until { return .snoozed }",
     gone("if let until = snoozedUntil(rule, severity), now < until { return .snoozed }")),
    ("annunciation", "severity <= state.tracks[rule].snoozedSeverity", "true"),
    ("annunciation", "own > state.tracks[rule].snoozedOwnSeverity", "false"),
    ("annunciation", "severity < .safetyCritical, let quiet", "@ || severity < .safetyCritical, let quiet",
     "if severity < .safetyCritical, let quiet = policy.quietHours, wallClock.isQuiet(quiet, at: now)"),
    ("annunciation", "!policy.notifiesWhenStale, isStale(rule, at: now)", "!@, !policy.notifiesWhenStale, isStale(rule, at: now)"),
    ("annunciation", "severity <= state.tracks[rule].lastNotifiedSeverity", "true"),
    ("annunciation", "!policy.rules[rule].notifies", "false"),
    ("annunciation", "|| severity == .informational {", "|| !@ && severity == .informational {"),
    ("annunciation", "state.tracks[rule].active?.acknowledgedAt != nil { return", "!@ && state.tracks[rule].active?.acknowledgedAt != nil { return"),
    ("annunciation", "if !attempts.contains(where: { $0.rule == rule })", "if @ || !attempts.contains(where: { $0.rule == rule })"),
    ("annunciation", "say(rule, at: now)\n        let isScheduled", "if !@ { say(rule, at: now) }\n        let isScheduled"),
    ("annunciation", "} else if isForeground, !policy.notifiesInForeground, reason != .unanswered {\n            state",
     "} else if !@, isForeground, !policy.notifiesInForeground, reason != .unanswered {\n            state"),
    # What is shown in front only, and what is critical
    ("front", "now.nanoseconds - held.nanoseconds <= front.left", "now.nanoseconds - held.nanoseconds < front.left"),
    statement("front", "attempt(rule, .released)"),
    statement("front", "attempt(rule, .unanswered)"),
    statement("episodes", "remindAfterFront(rule, at: now)"),
    statement("lists", "consider(reminderAfterFront(rule))"),
    statement("flow", "engine.answerInFront(rule)", "engine.tap(rule, at: now)\n                engine.answerInFront(rule)"),
    statement("lists", "consider(state.tracks[rule].criticalBy)"),
    ("critical", "abs(sample.value - before.value) > fastest * minutes", "false"),
    ("critical", "!policy.rules[rule].isCritical(before.value)", "true"),
    ("critical", "$0.sampledAt > first", "true"),
    ("critical", "min(gap, Self.longestInterval)", "Self.longestInterval"),
    ("reach", "return criticalBelow.nextUp", "return @ ? criticalBelow : criticalBelow.nextUp"),
    ("reach", "return criticalAbove.nextDown", "return @ ? criticalAbove : criticalAbove.nextDown"),
    ("reach", "critical > first.bound", "!@ && critical > first.bound"),
    ("ahead", "let began = ahead.raisedAt.adding(-policy.rules[rule].debounce)",
     "let began = @ ? ahead.raisedAt : ahead.raisedAt.adding(-policy.rules[rule].debounce)"),
    ("annunciation", "now < end {\n            // Gone", "@ ? now <= end : now < end {\n            // Gone"),
    ("annunciation", "!state.tracks[rule].isShown", "true", "if !state.tracks[rule].isShown, !state.tracks[rule].isOwed {"),
    statement("annunciation", "state.tracks[rule].isOwed = true\n                state.tracks[rule].isOwedByCooldown = true"),
    ("annunciation", "state.tracks[rule].isShown = true", gone("state.tracks[rule].isShown = true"),
     "state.tracks[rule].isShown = true\n            state.tracks[rule].isOwed = false\n            emit(.notify"),
    ("annunciation", "if state.tracks[rule].isOwedByCooldown, isForeground", "if !@, state.tracks[rule].isOwedByCooldown, isForeground"),
    ("annunciation", "obstacle(rule, severity, at: now) == nil", "true"),
    ("annunciation", "settings.code.rawValue + kind.rawValue", "settings.code.rawValue"),
    ("annunciation", "action == .withdraw ? .none : .default", ".default"),
    ("annunciation", "badge(with: rule, action)", "1"),
    ("annunciation", "return badge + 1", "return @ ? badge : badge + 1"),
    statement("annunciation", "payload.subject = settings.subject"),
    statement("annunciation", "payload.deepLink = AlertMessage.deepLink(settings)"),
    statement("annunciation", "payload.threshold = test.bound"),
    statement("annunciation", "payload.value = sample.value"),
    ("annunciation", "payload.measuredAt = wallClock.epochSeconds(at: sample.sampledAt)",
     "payload.measuredAt = wallClock.epochSeconds(at: @ ? now : sample.sampledAt)"),
    ("annunciation", "payload.time = wallClock.epochSeconds(at: due)", "payload.time = wallClock.epochSeconds(at: @ ? now : due)"),
    # Settings of several devices
    ("sync", "newest.seconds >= clock", "newest.seconds > clock"),
    ("sync", "sequence: newest.sequence + 1)", "sequence: @ ? newest.sequence : newest.sequence + 1)"),
    ("sync", "(time, device, content) > (other.time, other.device, other.content)", "(time, device) > (other.time, other.device)"),
    # With the system, ahead of time
    ("ahead", "(track.pendingSince ?? deadline).adding(settings.debounce)", "(track.pendingSince ?? deadline)"),
    ("ahead", "guard state.tracks[rule].scheduled != ahead else { return }", "if !@ { guard state.tracks[rule].scheduled != ahead else { return } }"),
    ("ahead", "var due = open", "var due = @ ? call.at : open"),
    ("ahead", "if open < end {", "if !@, open < end {"),
    ("ahead", "calls.skipRepeats(to: min(end, turn ?? end))", "calls.skipRepeats(to: @ ? end : min(end, turn ?? end))"),
    ("ahead", "owedSince = owedSince ?? call.at", "owedSince = @ ? nil : owedSince ?? call.at"),
    statement("ahead", "if death.isOwed { state.tracks[rule].isOwed = true }"),
    ("ahead", "state.tracks[rule].isShown ? .unschedule : .withdraw", "!@ && state.tracks[rule].isShown ? .unschedule : .withdraw"),
    ("ahead", "if let until = snoozedUntil(rule, severity), instant < until {", "if !@, let until = snoozedUntil(rule, severity), instant < until {"),
    ("ahead", "} else if severity < .safetyCritical, let quiet = policy.quietHours,\n                wallClock.isQuiet(quiet, at: instant)",
     "} else if !@, severity < .safetyCritical, let quiet = policy.quietHours,\n                wallClock.isQuiet(quiet, at: instant)"),
    ("ahead", "where step.to > highest {", "where !@ && step.to > highest {"),
    ("ahead", "if active.acknowledgedAt != nil { return nil }", "if !@, active.acknowledgedAt != nil { return nil }"),
    ("ahead", "ahead.rings.last { $0.due < now }", "ahead.rings.last { !@ && $0.due < now }"),
    ("ahead", "if nextRepeat == at { nextRepeat = every.map { at.adding($0) } }", "if nextRepeat == at { nextRepeat = @ ? nil : every.map { at.adding($0) } }"),
    ("ahead", "state.tracks[rule].active?.raisedAt = death.raisedAt", gone("state.tracks[rule].active?.raisedAt = death.raisedAt")),
    ("ahead", "max(active.severity, last.severity)", "@ ? active.severity : max(active.severity, last.severity)"),
    statement("engine", "if !deaths.isEmpty { deaths = [:] }"),
    ("engine", "deaths[rule]?.began ?? now", "@ ? now : deaths[rule]?.began ?? now"),
    ("ahead", "guard let answered = death.answered, let due", "guard !@, let answered = death.answered, let due"),
    statement("ahead", "state.tracks[rule].lastNotified = last.due"),
    # What is shown
    ("lists", "$0.severity > $1.severity", "$0.severity < $1.severity"),
    ("lists", "$0.raisedAt > $1.raisedAt", "$0.raisedAt < $1.raisedAt"),
    ("lists", "$0.dedupeKey < $1.dedupeKey", "$0.dedupeKey > $1.dedupeKey"),
    ("message", "isBreached ? side : \"was \\(side)\"", "side"),
    ("message", "age > limits.freshness", "false"),
    ("message", "left + Nanoseconds.minute - 1", "left"),
    ("message", "code == .pumpExpired", "false"),
    ("message", "details.since.map { now.nanoseconds - $0.nanoseconds } ?? limits.stepping", "limits.stepping"),
    ("banner", "lifetime = 10 * Nanoseconds.second", "lifetime = @ ? 11 * Nanoseconds.second : 10 * Nanoseconds.second"),
    ("banner", "alert.isBannerDismissible ? AlertBanner.lifetime : nil", "AlertBanner.lifetime"),
    ("banner", "entries[place].left != nil\n", "@ || entries[place].left != nil\n"),
    ("banner", "alert.severity > self.alert.severity", "false"),
    ("banner", "entry.putAway(isDismissed: mark.isDismissed)", "if !@ { entry.putAway(isDismissed: mark.isDismissed) }"),
    ("banner", "$0.isDismissed ? $0 : Entry($0.alert)", "Entry($0.alert)"),
    ("banner", "entry.alert, count: entries.count", "entry.alert, count: @ ? 1 : entries.count"),
    # The age of a reading
    ("age", "state.newestReading ?? .start).nanoseconds", "state.newestReading ?? (@ ? now : .start)).nanoseconds"),
    ("age", "sampledAt <= newest", "false"),
    ("prepared", "[$0.bound, $0.clearAt]", "[@ ? nil : $0.bound, $0.clearAt]"),
    ("prepared", "[rule.criticalBelow, rule.criticalAbove]", "[rule.criticalBelow, @ ? nil : rule.criticalAbove]"),
    ("rule", "age >= Self.nanoseconds(bound)", "age > Self.nanoseconds(bound)"),
    ("rule", "age < Self.nanoseconds(bound)", "age <= Self.nanoseconds(bound)"),
    ("rule", "age >= MetricTest.nanoseconds(criticalAbove)", "age > MetricTest.nanoseconds(criticalAbove)"),
    # What is remembered under another policy
    ("launch", "state.keys.firstIndex(of: key).map { state.tracks[$0] } ?? Track()", "Track()"),
    ("launch", "state.keys.indices.filter { !keys.contains(state.keys[$0]) }", "state.keys.indices.filter { !@ && !keys.contains(state.keys[$0]) }"),
    ("launch", "remember(ClearedAlert(alert: active, clearedAt: now, reason: .cleanup))", gone("remember(ClearedAlert(alert: active, clearedAt: now, reason: .cleanup))")),
    ("launch", "if track.isShown || track.isScheduled { withdraw(orphan.code, .alert) }",
     gone("if track.isShown || track.isScheduled { withdraw(orphan.code, .alert) }")),
    ("launch", "metrics = rule.tests.map(\\.metric.rawValue)", "metrics = @ ? [] : rule.tests.map(\\.metric.rawValue)"),
    # The flow
    ("limits", "stepping = 15 * Nanoseconds.minute", "stepping = @ ? 16 * Nanoseconds.minute : 15 * Nanoseconds.minute"),
    ("limits", "podExpiring = Nanoseconds.hour", "podExpiring = @ ? Nanoseconds.hour + 1 : Nanoseconds.hour"),
    ("limits", "podService = 8 * Nanoseconds.hour", "podService = @ ? 7 * Nanoseconds.hour : 8 * Nanoseconds.hour"),
    ("limits", "clockSkew = 10 * Nanoseconds.minute", "clockSkew = @ ? 599 * Nanoseconds.second : 10 * Nanoseconds.minute"),
    ("severity", ".actionable: 300_000_000_000", ".actionable: @ ? 301_000_000_000 : 300_000_000_000"),
    ("severity", ".safetyCritical: 60_000_000_000", ".safetyCritical: @ ? 61_000_000_000 : 60_000_000_000"),
    ("rule", "cooldowns[severity] ?? cooldown ??", "(@ ? nil : cooldowns[severity]) ?? cooldown ??"),
    ("flow", "$0.issuedAt <= pending.at", "true"),
    ("flow", "now.nanoseconds - $0.nanoseconds > limits.clockCheck", "true"),
    statement("flow", "if !environment.hasPod { cleanUpPod(at: now) }"),
    ("flow", "old.isClaimOk, !new.isClaimOk", "old.isClaimOk && !new.isClaimOk && !@"),
    ("flow", "!wasOk, liveSensor(new) == nil", "!@, !wasOk, liveSensor(new) == nil"),
    ("conditions", "environment.hasPod", "true", "if environment.hasPod, environment.hasPumpSession"),
    ("conditions", "environment.hasPumpSession", "true", ", environment.hasPumpSession, !environment"),
    ("conditions", "environment.isFirstStepDone, !environment.hasPod", "@ || environment.isFirstStepDone, !environment.hasPod"),
    ("conditions", "$0.nanoseconds - now.nanoseconds <= limits.podExpiring", "$0.nanoseconds - now.nanoseconds < limits.podExpiring"),
    ("conditions", "end.map { now >= $0 } ?? false", "end.map { now > $0 } ?? false"),
    ("conditions", "now >= $0.adding(limits.podService)", "now > $0.adding(limits.podService)"),
    ("conditions", "if let code = liveSensor(environment) { codes.insert(code) }",
     "if let code = liveSensor(environment) { codes.insert(code) }\n        if @, !environment.isSignedIn { codes.insert(.loginRequired) }"),
    ("conditions", "skew.magnitude >", "(@ ? skew : skew.magnitude) >"),
    ("conditions", "now.nanoseconds - last.nanoseconds < limits.clockCheck", "now.nanoseconds - last.nanoseconds <= limits.clockCheck"),
    ("conditions", "let deadline = steppingDeadline, now >= deadline", "let deadline = steppingDeadline, @ ? now > deadline : now >= deadline"),
    ("conditions", "max(armed, memory.monitor.lastStep ?? armed)", "(memory.monitor.lastStep ?? armed)"),
    ("conditions", "alerts[index].issuedAt <= $0.at", "true"),
    ("conditions", "$0.updatedAt < now", "false"),
    ("native", "|| text.lowercased().contains(\"incompatible\")", "|| !@ && text.lowercased().contains(\"incompatible\")"),
    ("native", "where words.contains(word)", "where !@ && words.contains(word)"),
    # Rules and clocks
    ("rule", "side == .low ? value < bound : value > bound", "side == .low ? value <= bound : value >= bound"),
    ("rule", "side == .low ? value >= limit : value <= limit", "side == .low ? value > limit : value < limit"),
    ("rule", "value < criticalBelow", "value <= criticalBelow"),
    ("rule", "value > criticalAbove", "value >= criticalAbove"),
    ("policy", "timeOfDay >= from || timeOfDay < to", "timeOfDay > from || timeOfDay < to"),
    ("policy", "timeOfDay >= from && timeOfDay < to", "timeOfDay >= from && timeOfDay <= to"),
    ("policy", "if from == to { return true }", "if from == to { return !@ }"),
    ("clock", "min(wait, (change - seconds) * Nanoseconds.second - rest)", "wait"),
    ("clock", "transition.epochSeconds <= epochSeconds", "transition.epochSeconds < epochSeconds - 7200"),
    # What is counted of each code
    ("tallies", "tallies[rule].raised += 1", gone("tallies[rule].raised += 1")),
    statement("tallies", "tallies[rule].notified += 1"),
    ("tallies", "if isNight() { tallies[rule].notifiedNight += 1 }", "if @ || isNight() { tallies[rule].notifiedNight += 1 }"),
    ("tallies", "let rule = effect.rule", "let rule = @ ? 0 : effect.rule"),
    ("tallies", "guard effect.reason != .test", "guard @ || effect.reason != .test"),
]


def mutated(texts):
    """The files with all breaks in them, and what is wrong with those that find nothing to change."""
    texts, problems, breaks = dict(texts), [], []
    taken = {}
    for number, mutant in enumerate(MUTANTS, 1):
        name, old, new = mutant[:3]
        near = mutant[3] if len(mutant) > 3 else old
        path = FILES[name]
        if path not in texts:
            problems.append(f"break {number}: there is no {path}")
            continue
        text = texts[path]
        # What another break has changed already is changed once more around it.
        key = (name, old, near)
        if key in taken:
            near_now = old_now = taken[key]
        else:
            near_now, old_now = near, old
        if text.count(near_now) != 1 or near_now.count(old_now) != 1:
            problems.append(f"break {number}: in {path}, `{old}` stands {text.count(near_now)} times, found 1 expected")
            continue
        on = f"breaks({number})"
        if "@" in new:
            fresh = new.replace("@", on)
            if old_now != old:
                fresh = None
        else:
            # Both become operands.
            if any(part.startswith(("&&", "||")) or any(part.count(a) != part.count(b) for a, b in ("()", "[]", "{}")) for part in (old, new)):
                problems.append(f"break {number}: `{old}` or `{new}` is no expression")
                continue
            fresh = f"({on} ? ({new}) : ({old_now}))"
        if fresh is None:
            problems.append(f"break {number}: `{old}` is broken already, and by a whole text")
            continue
        taken[key] = fresh
        at = text.index(near_now) + near_now.index(old_now)
        texts[path] = text[:at] + fresh + text[at + len(old_now):]
        breaks.append(number)
    return texts, problems, breaks


def sources():
    folder = os.path.join(ROOT, ENGINE)
    return {path: open(os.path.join(folder, path), encoding="utf-8").read()
            for path in FILES.values() if os.path.exists(os.path.join(folder, path))}


def write(path, text):
    """Leaves a file that is so already alone, so that a kept folder builds what has changed only."""
    if not os.path.exists(path) or open(path, encoding="utf-8").read() != text:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def copy_package(work, texts):
    """The alert engine, what reads its files, its tests, and a program that runs scenarios; nothing else."""
    for part in PARTS:
        for folder, _, names in os.walk(os.path.join(ROOT, part)):
            for name in names:
                source = os.path.join(folder, name)
                relative = os.path.relpath(source, ROOT)
                inner = os.path.relpath(source, os.path.join(ROOT, ENGINE))
                write(os.path.join(work, relative), texts.get(inner) or open(source, encoding="utf-8").read())
    link = os.path.join(work, "Tests/AlertScenarios")
    if not os.path.lexists(link):
        os.symlink(os.path.join(ROOT, "Tests/AlertScenarios"), link)
    write(os.path.join(work, "Sources/scenarios/main.swift"), PROGRAM)
    manifest = open(os.path.join(ROOT, "Package.swift"), encoding="utf-8").read()
    entries = [re.search(rf'^        (?:module|tests|\.target|\.systemLibrary)\(\s*(?:name: )?"{name}"(?:.|\n)*?\),\n(?= {{0,8}}\S|\n)', manifest, re.M)[0]
               for name in TARGETS]
    manifest = re.sub(r"    products: \[(?:.|\n)*?\n    \],\n    traits(?:.|\n)*?\n    \],\n", "", manifest)
    manifest = manifest[:manifest.index("\n    targets: [\n")] + "\n    targets: [\n" + "".join(entries) + (
        '        .executableTarget(name: "scenarios", dependencies: ["IsletFiles"], swiftSettings: strict),\n    ]\n)\n')
    manifest = re.sub(r'^ +\.package\((?!.*/Yams").*\n', "", manifest, flags=re.M)
    # A break may leave a value unread.
    manifest = manifest.replace("    .treatAllWarnings(as: .error),\n", "")
    write(os.path.join(work, "Package.swift"), manifest)
    resolved = os.path.join(ROOT, "Package.resolved")
    if os.path.exists(resolved):
        write(os.path.join(work, "Package.resolved"), open(resolved, encoding="utf-8").read())
    write(os.path.join(work, ENGINE, "Breaks.swift"),
          "import Glibc\n\n/// The break that is on.\nprivate let number: Int =\n"
          "    getenv(\"ALERT_BREAK\").flatMap { Int(String(cString: $0)) } ?? 0\n\n"
          "@inline(never) func breaks(_ one: Int) -> Bool { number == one }\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", help="where to build; a temporary folder, deleted afterwards, when left out")
    parser.add_argument("--bar", type=float, default=95, help="the share of breaks that must be caught, percent")
    parser.add_argument("--only", help="numbers of breaks, with commas")
    parser.add_argument("--check", action="store_true", help="only look whether every break finds its place")
    options = parser.parse_args()
    texts, problems, numbers = mutated(sources())
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        print(f"{len(problems)} of {len(MUTANTS)} breaks find nothing to change: follow the rename in {__file__}", file=sys.stderr)
        print(f"{len(numbers)} passed, {len(problems)} failed")
        sys.exit(2)
    if options.check:
        print(f"{len(MUTANTS)} breaks find their place")
        return
    work = options.work or tempfile.mkdtemp(prefix="alert-mutants-")
    try:
        sys.exit(run(os.path.abspath(work), texts, options, numbers))
    finally:
        if not options.work:
            shutil.rmtree(work, ignore_errors=True)


def run(work, texts, options, numbers):
    started = time.monotonic()
    copy_package(work, texts)
    log = subprocess.run(["swift", "build", "--build-tests"], cwd=work, capture_output=True, text=True)
    if log.returncode:
        # A file and its line, in the order in which the compiler came to them; below each it draws its source.
        errors = dict.fromkeys(line for line in (log.stdout + log.stderr).splitlines() if re.match(r"/.*: error:", line))
        print("\n".join(list(errors)[:40]) or log.stdout[-4000:] + log.stderr[-4000:], file=sys.stderr)
        print("0 passed, 1 failed")
        return 2
    built = time.monotonic()
    binaries = os.path.join(work, ".build/debug")
    scenarios = sorted(glob.glob(os.path.join(ROOT, "Tests/AlertScenarios/*.yaml")))
    commands = [
        [os.path.join(binaries, "scenarios"), *scenarios],
        [os.path.join(binaries, "isletPackageTests.xctest"), "--testing-library", "swift-testing", "--filter", SWIFT_TESTS],
    ]

    def caught(number):
        """By what: the scenarios, the Swift tests, nothing."""
        for by, command in zip(["scenarios", "tests"], commands):
            try:
                done = subprocess.run(
                    command, cwd=work, capture_output=True, text=True, timeout=60, env={**os.environ, "ALERT_BREAK": str(number)})
                if by == "tests" and number == 0 and "Test run with" not in done.stdout + done.stderr:
                    return "tests that don't run"
                if done.returncode:
                    return by
            except subprocess.TimeoutExpired:
                return by
        return None

    if by := caught(0):
        print(f"the {by} fail without any break", file=sys.stderr)
        print("0 passed, 1 failed")
        return 2
    if options.only:
        numbers = [int(one) for one in options.only.split(",")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        found = dict(zip(numbers, pool.map(caught, numbers)))
    for number in numbers:
        if not found[number]:
            name, old, new = MUTANTS[number - 1][:3]
            print(f"missed {number}: {FILES[name]}: {old!r} -> {new!r}")
    count = sum(1 for number in numbers if found[number])
    by_scenarios = sum(1 for number in numbers if found[number] == "scenarios")
    share = 100 * count / len(numbers)
    print(f"{count} of {len(numbers)} breaks caught ({share:.1f} %), {by_scenarios} of them by scenario files; "
          f"{built - started:.0f} s of building, {time.monotonic() - built:.0f} s of tests")
    missing = max(0, -(-options.bar * len(numbers) // 100) - count)
    print(f"{count} passed, {int(missing)} failed")
    return 0 if share >= options.bar else 1


if __name__ == "__main__":
    main()
