#!/usr/bin/env python3
"""Breaks the alert engine in one place at a time and says how many of the breaks the scenario files notice.

All breaks are compiled into one copy of the package, each behind a number; the number to break is read from the
environment once. So there is one build, and a run of all scenario files a break.

    python3 Tests/Tools/mutate_alerts.py [--work DIR] [--bar 95]
"""
import argparse, glob, os, re, shutil, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ENGINE = "Sources/Alerts/Engine/AlertEngine.swift"
EPISODES = "Sources/Alerts/Engine/AlertEngine+Episodes.swift"
ANNUNCIATION = "Sources/Alerts/Engine/AlertEngine+Annunciation.swift"
LISTS = "Sources/Alerts/Engine/AlertEngine+Lists.swift"
FLOW = "Sources/Alerts/Flow/AlertFlow.swift"
CONDITIONS = "Sources/Alerts/Flow/AlertFlow+Conditions.swift"
RULE = "Sources/Alerts/Policy/AlertRule.swift"
POLICY = "Sources/Alerts/Policy/AlertPolicy.swift"
CLOCK = "Sources/Alerts/Policy/WallClock.swift"

# file, expression, what it becomes. An expression stands once in its file, or `context` (a unique line part) says where.
MUTANTS = [
    (ENGINE, "sampledAt <= before.sampledAt", "sampledAt < before.sampledAt.adding(-1)"),
    (ENGINE, "now.nanoseconds - sampledAt.nanoseconds <= Self.freshness", "now.nanoseconds - sampledAt.nanoseconds < Self.freshness"),
    (ENGINE, "now.nanoseconds - sample.sampledAt.nanoseconds <= Self.freshness", "true"),
    (ENGINE, "!test.isBreached(by: sample.value)", "false"),
    (ENGINE, "now.nanoseconds - $0.sampledAt.nanoseconds > Self.freshness", "false"),
    (ENGINE, "orderA != orderB", "false"),
    (ENGINE, "isReplaced(a) != isReplaced(b)", "false"),
    (ENGINE, "codeRank[a] < codeRank[b]", "codeRank[a] > codeRank[b]"),
    (ENGINE, "let began = !state.tracks[rule].holds", "let began = true"),
    (ENGINE, "reason != .recovered", "false"),
    (ENGINE, "policy.rules[rule].isLatching, active.acknowledgedAt == nil", "false"),
    (ENGINE, "max(base, escalated(rule))", "base"),
    (ENGINE, "isReissue || severity != active.severity", "isReissue"),
    (ENGINE, "isReissue || severity > active.severity", "true"),
    (ENGINE, "if telling.afterGap { forgetGap(rule, at: now) }", "_ = 0"),
    (EPISODES, "now >= since.adding(policy.rules[rule].debounce)", "now > since.adding(policy.rules[rule].debounce)"),
    (EPISODES, "now >= since.adding(policy.rules[rule].keepFiringFor)", "now > since.adding(policy.rules[rule].keepFiringFor)"),
    (EPISODES, "now.nanoseconds - sample.sampledAt.nanoseconds > Self.freshness", "now.nanoseconds - sample.sampledAt.nanoseconds >= Self.freshness"),
    (EPISODES, "isStale(rule, at: now)", "false", "if isStale(rule, at: now) {"),
    (EPISODES, "state.tracks[rule].isShown, state.tracks[rule].isQuiet", "false"),
    (EPISODES, "state.tracks[rule].active?.acknowledgedAt == nil", "true", "attempts.append((rule, .repeated))"),
    (EPISODES, "due.adding((missed + 1) * every)", "now.adding(every).adding(1)"),
    (EPISODES, "state.tracks[rule].escalationsDone = 0", "_ = 0"),
    (EPISODES, "if state.tracks[rule].isShown {", "if false {", "if state.tracks[rule].isShown {\n            // Delivered"),
    (EPISODES, "state.recentlyCleared.insert(ClearedAlert(alert: alert, clearedAt: now, reason: reason), at: 0)",
     "state.recentlyCleared.append(ClearedAlert(alert: alert, clearedAt: now, reason: reason))"),
    (ANNUNCIATION, "state.tracks[rule].isOwed = true", "state.tracks[rule].isOwed = false"),
    (EPISODES, "now >= active.raisedAt.adding(step.after)", "now > active.raisedAt.adding(step.after)"),
    (EPISODES, "due.adding((missed + 1) * Span.minute)", "now.adding(Span.minute)"),
    (EPISODES, "case .closes: clear(rule, .acknowledged, at: now)", "case .closes: _ = 0"),
    (EPISODES, "case .reviews where isOver: clear(rule, .acknowledged, at: now)", "case .reviews where isOver: _ = 0"),
    (EPISODES, "state.tracks[rule].snoozedUntil = now.adding(span)", "state.tracks[rule].snoozedUntil = now.adding(span / 2)"),
    (EPISODES, "now.nanoseconds - since.nanoseconds >= policy.rules[rule].debounce", "now.nanoseconds - since.nanoseconds > policy.rules[rule].debounce"),
    (EPISODES, "severity < .safetyCritical, let quiet", "let quiet"),
    (ANNUNCIATION, "state.tracks[other].isActive", "false", "return .inhibited"),
    (ANNUNCIATION, "severity <= state.tracks[rule].snoozedSeverity", "true"),
    (ANNUNCIATION, "severity < .safetyCritical, let quiet", "let quiet"),
    (ANNUNCIATION, "severity <= state.tracks[rule].lastNotifiedSeverity", "true"),
    (ANNUNCIATION, "!policy.rules[rule].notifies", "false"),
    (ANNUNCIATION, "alert.severity == .informational", "false"),
    (ANNUNCIATION, "isForeground, !policy.notifiesInForeground", "false", "else if isForeground"),
    (ANNUNCIATION, "let end = coolsDownUntil(rule, alert.severity), now < end", "let end = coolsDownUntil(rule, alert.severity), now <= end", "} else if let end"),
    (ANNUNCIATION, "state.tracks[rule].isShown = true\n            state.tracks[rule].isOwed = false", "state.tracks[rule].isOwed = false"),
    (ANNUNCIATION, "due < now", "false"),
    (ANNUNCIATION, "state.tracks[rule].scheduledFor != due", "true"),
    (LISTS, "$0.severity > $1.severity", "$0.severity < $1.severity"),
    (LISTS, "$0.raisedAt > $1.raisedAt", "$0.raisedAt < $1.raisedAt"),
    (LISTS, "$0.dedupeKey < $1.dedupeKey", "$0.dedupeKey > $1.dedupeKey"),
    (LISTS, "consider(state.tracks[rule].snoozedUntil)", "_ = 0"),
    (LISTS, "consider(since.adding(policy.rules[rule].debounce))", "_ = 0"),
    (LISTS, "consider(since.adding(policy.rules[rule].keepFiringFor))", "_ = 0"),
    (LISTS, "consider(state.tracks[rule].nextRepeat)", "_ = 0"),
    (LISTS, "consider(state.tracks[rule].nextRefresh)", "_ = 0"),
    (FLOW, "static let steppingLimit = 15 * Span.minute", "static let steppingLimit = 16 * Span.minute"),
    (FLOW, "static let expiringBefore = Span.hour", "static let expiringBefore = Span.hour + 1"),
    (FLOW, "static let serviceAfterExpiry = 8 * Span.hour", "static let serviceAfterExpiry = 7 * Span.hour"),
    (FLOW, "static let skewLimitSeconds = 600.0", "static let skewLimitSeconds = 599.0"),
    (FLOW, "$0.issuedAt <= pending.at", "true"),
    (FLOW, "now.nanoseconds - $0.nanoseconds > Self.clockCheckInterval", "true"),
    (FLOW, "if !surroundings.hasPod { cleanUpPod(at: now) }", "_ = 0"),
    (FLOW, "old.isClaimOk, !new.isClaimOk", "!new.isClaimOk, false"),
    (FLOW, "!wasOk, liveSensor(new) == nil", "false"),
    (CONDITIONS, "around.hasPod, around.hasPumpSession, !around.isPumpStatusKnown", "around.hasPumpSession, !around.isPumpStatusKnown"),
    (CONDITIONS, "around.isFirstStepDone, !around.hasPod", "!around.hasPod, true"),
    (CONDITIONS, "$0.nanoseconds - now.nanoseconds <= Self.expiringBefore", "$0.nanoseconds - now.nanoseconds < Self.expiringBefore"),
    (CONDITIONS, "end.map { now >= $0 } ?? false", "end.map { now > $0 } ?? false"),
    (CONDITIONS, "now >= $0.adding(Self.serviceAfterExpiry)", "now > $0.adding(Self.serviceAfterExpiry)"),
    (CONDITIONS, "if let code = liveSensor(around) { codes.insert(code) }",
     "if let code = liveSensor(around) { codes.insert(code) }; if !around.isSignedIn { codes.insert(.loginRequired) }"),
    (CONDITIONS, "skew.magnitude > Self.skewLimitSeconds", "skew > Self.skewLimitSeconds"),
    (CONDITIONS, "now.nanoseconds - last.nanoseconds < Self.clockCheckInterval", "now.nanoseconds - last.nanoseconds <= Self.clockCheckInterval"),
    (CONDITIONS, "now >= deadline", "now > deadline"),
    (CONDITIONS, "max(armed, memory.monitor.lastStep ?? armed)", "(memory.monitor.lastStep ?? armed)"),
    (CONDITIONS, "alerts[index].issuedAt <= $0.at", "true"),
    (RULE, "side == .low ? value < bound : value > bound", "side == .low ? value <= bound : value >= bound"),
    (RULE, "side == .low ? value >= limit : value <= limit", "side == .low ? value > limit : value < limit"),
    (RULE, "value < criticalBelow", "value <= criticalBelow"),
    (RULE, "value > criticalAbove", "value >= criticalAbove"),
    (POLICY, "timeOfDay >= from || timeOfDay < to", "timeOfDay > from || timeOfDay < to"),
    (POLICY, "timeOfDay >= from && timeOfDay < to", "timeOfDay >= from && timeOfDay <= to"),
    (POLICY, "if from == to { return true }", "if from == to { return false }"),
    (CLOCK, "min(wait, (change - seconds) * Span.second - rest)", "wait"),
    (CLOCK, "transition.epochSeconds <= epochSeconds", "transition.epochSeconds < epochSeconds - 7200"),
]

STATEMENT = re.compile(r"^(if |state\.|consider\(|case |attempts|let |static let )")


def replaced(text, number, old, new, context):
    at = text.find(context or old)
    if at < 0 or (context is None and text.count(old) != 1) or (context and text.count(context) != 1):
        raise SystemExit(f"mutant {number}: `{old}` stands {text.count(old)} times")
    if context:
        begin = text.find(old, max(0, at - 200))
        line = text.rfind(old, 0, at + len(context) + len(old))
        at = line if line >= 0 else begin
        if at < 0:
            raise SystemExit(f"mutant {number}: `{old}` is not there")
    return text[:at] + guarded(number, old, new) + text[at + len(old):]


def guarded(number, old, new):
    on = f"breaks({number})"
    if old.startswith("static let ") or old.startswith("let ") and " = " in old and "," not in old:
        head, a = old.split(" = ", 1)
        return f"{head} = {on} ? {new.split(' = ', 1)[1]} : {a}"
    if old.startswith("case "):
        head, a = old.split(": ", 1)
        # A statement of its own type.
        return f"{head}: if {on} {{ {new.split(': ', 1)[1]} }} else {{ {a} }}" if "clear(" in a or a != "" else old
    if old.startswith("if ") and old.endswith("}"):
        return f"if {on} {{ {new} }} else {{ {old} }}"
    if old.startswith("if "):
        body = old[3:-2]
        return f"if !{on}, {body} {{"
    if ", let " in old or old.startswith("let ") or "let quiet" in old:
        # A list of conditions: what is dropped or changed stands apart.
        if old == "severity < .safetyCritical, let quiet":
            return f"({on} || severity < .safetyCritical), let quiet"
        if "coolsDownUntil" in old:
            return f"let end = coolsDownUntil(rule, alert.severity), ({on} ? now <= end : now < end)"
    if ", " in old and not old.endswith(")") and "(" not in old.split(", ")[0]:
        conditions = " && ".join(f"({part})" for part in old.split(", "))
        changed = " && ".join(f"({part})" for part in new.split(", "))
        return f"({on} ? ({changed}) : ({conditions}))"
    if "\n" in old or (STATEMENT.match(old) and (" = " in old or old.endswith(")")) and "==" not in old and "!=" not in old and "<" not in old and ">" not in old):
        return f"if {on} {{ {new} }} else {{ {old} }}"
    return f"({on} ? ({new}) : ({old}))"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", help="where to build; a temporary folder when left out")
    parser.add_argument("--bar", type=float, default=95)
    options = parser.parse_args()
    work = options.work or tempfile.mkdtemp(prefix="alert-mutants-")
    for part in ["Sources", "Package.swift", "Tests", "Benchmarks"]:
        source, target = os.path.join(ROOT, part), os.path.join(work, part)
        if not os.path.exists(source):
            continue
        if os.path.isdir(source):
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copy(source, target)
    for number, mutant in enumerate(MUTANTS, 1):
        path, old, new = mutant[:3]
        path = os.path.join(work, path)
        text = open(path).read()
        open(path, "w").write(replaced(text, number, old, new, mutant[3] if len(mutant) > 3 else None))
    with open(os.path.join(work, "Sources/Alerts/Breaks.swift"), "w") as file:
        file.write(
            "import Glibc\n/// The break that is on.\nlet breakNumber: Int = getenv(\"ALERT_BREAK\").flatMap { Int(String(cString: $0)) } ?? 0\n"
            "@inline(never) func breaks(_ number: Int) -> Bool { breakNumber == number }\n")
    build = subprocess.run(["swift", "build", "--product", "islet"], cwd=work, capture_output=True, text=True)
    if build.returncode:
        errors = sorted({line for line in (build.stdout + build.stderr).splitlines() if "error:" in line})
        raise SystemExit("\n".join(errors[:40]))
    islet = os.path.join(work, ".build/debug/islet")
    scenarios = sorted(glob.glob(os.path.join(ROOT, "Tests/AlertScenarios/*.yaml")))

    def run(number):
        try:
            return subprocess.run(
                [islet, "alerts", "test", "--quiet", *scenarios], capture_output=True, text=True, timeout=60,
                env={**os.environ, "ALERT_BREAK": str(number)}).returncode
        except subprocess.TimeoutExpired:
            return -1

    if run(0) != 0:
        raise SystemExit("the scenarios fail without any break")
    missed = [number for number in range(1, len(MUTANTS) + 1) if run(number) == 0]
    for number in missed:
        print(f"missed {number}: {MUTANTS[number - 1][0]}: {MUTANTS[number - 1][1]} -> {MUTANTS[number - 1][2]}")
    caught = len(MUTANTS) - len(missed)
    share = 100 * caught / len(MUTANTS)
    print(f"{caught} of {len(MUTANTS)} breaks caught ({share:.1f} %)")
    sys.exit(0 if share >= options.bar else 1)


if __name__ == "__main__":
    main()
