// The settings: thresholds with their zones and what they would have rung, quiet hours, tests and previews.
//
// Guarantees: a slider's zones are named in words too; what is sent is what the field beside the slider shows, in the units of the API; a lower bound above the
// upper one is not sent, and the form says why. Does not: compute a preview: the server does, by the live engine's rule.

import IsletAlerts
import IsletFiles
import IsletLoop
import IsletDevices
import IsletLive
import IsletKernel

extension SessionPage {
    var settings: [Surface] {
        [settingsRow, thresholds, quietHours, testAlert, previews] + (isRoom ? [] : [subject]) + [
            notifications
        ]
    }

    // MARK: Thresholds

    private var thresholds: Surface {
        let forms = view.thresholds.map { ThresholdForm(threshold: $0, page: self).html }
        let body: HTML =
            forms.isEmpty ? "<p>There is nothing to set here.</p>" : HTML(markup: forms.map(\.text).joined())
        return Surface(
            .thresholds, attributes: " id=\"thresholds\"",
            "<h2>Thresholds</h2><p class=\"facts\">Below or above these an alert rings. Drag, and see what the last day would have rung; nothing changes until you save. \(owner)</p>\(ownerProblem)\(recommendation)\(body)"
        )
    }

    private var owner: HTML {
        view.owner.map {
            "Thresholds, sensitivity and quiet hours are those of <strong>\($0)</strong>, and the same in <code>islet thresholds</code> and on every device that is synced."
        } ?? "They are this session’s own: it follows no owner."
    }

    private var ownerProblem: HTML {
        view.ownerProblem.map {
            notice(
                .action, "danger", "The owner’s store can’t be followed",
                "What is set here holds in this session: \($0)")
        } ?? ""
    }

    /// One press, and each metric has what is recommended for the stage that the subject is in.
    private var recommendation: HTML {
        let known = view.thresholds.filter { !$0.recommended.isEmpty }
        let differs = known.contains {
            !$0.isEnabled || $0.low != $0.recommended[0].range.lowerBound
                || $0.high != $0.recommended[0].range.upperBound
        }
        guard let stage = known.first?.recommended.first?.stage, differs else { return "" }
        let ranges = known.map { one -> String in
            let range = one.recommended[0].range
            return
                "\(one.metric.name.lowercased()) \(telling.number(range.lowerBound, of: one.metric)) to \(telling.value(range.upperBound, of: one.metric))"
        }
        return
            "<div class=\"row\" data-recommend><button type=\"button\" data-command=\"recommendThresholds\"\(off)>Use what is recommended (\(stage))</button><span class=\"facts\">\(ranges.joined(separator: ", "))</span></div>"
    }

    // MARK: Quiet hours

    private var quietHours: Surface {
        let quiet = view.live.quietHours
        let from = quiet.map { minuteText($0.from) } ?? "22:00"
        let to = quiet.map { minuteText($0.to) } ?? "07:00"
        let now: HTML =
            quiet.map {
                "From <span data-clock>\(minuteText($0.from))</span> to <span data-clock>\(minuteText($0.to))</span>\(view.live.isQuiet ? ", and on now" : "")."
            } ?? "There are none."
        return Surface(
            .quietHours, attributes: " id=\"quiet\"",
            "<h2>Quiet hours</h2><p>\(now) <span class=\"facts\">In quiet hours only urgent alerts ring; the others are still listed.</span></p><form data-command=\"quietHours\"><div class=\"row\"><div class=\"field\"><label for=\"quiet-from\">From</label><input id=\"quiet-from\" name=\"from\" type=\"time\" required value=\"\(from)\"\(off)></div><div class=\"field\"><label for=\"quiet-to\">To</label><input id=\"quiet-to\" name=\"to\" type=\"time\" required value=\"\(to)\"\(off)></div></div><div class=\"row\"><button type=\"submit\" class=\"do\"\(off)>Save quiet hours</button><button type=\"button\" data-command=\"quietHours\" data-nulls=\"from to\"\(quiet == nil ? " disabled" as HTML : off)>No quiet hours</button></div><p class=\"answer\" role=\"status\" data-keep></p></form>"
        )
    }

    // MARK: Tests and previews

    /// Every code that the policy has, and those of the catalogue that nothing raises.
    private var codes: [String] {
        let ofPolicy = view.live.policy?.rules.map(\.code.rawValue) ?? []
        guard !isRoom else { return ofPolicy }
        let catalogue = AlertCode.allCases.map(\.rawValue)
        return catalogue + ofPolicy.filter { !catalogue.contains($0) }
    }

    private var testAlert: Surface {
        let codes = view.live.policy?.rules.map(\.code.rawValue) ?? codes
        let options = codes.map { code -> HTML in
            "<option value=\"\(code)\">\(StoryWords.name(of: code))</option>"
        }
        return Surface(
            .testAlert,
            "<h2>Test alert</h2><p class=\"facts\">Rings as the real one would, in front and in quiet hours too, and says “Test”. What never notifies doesn’t as a test either. The answer says whether it reached the phone.</p><form data-command=\"testAlert\"><div class=\"row\"><label for=\"test-alert\">Alert</label><select id=\"test-alert\" name=\"alert\"\(off)>\(options)</select><button type=\"submit\" class=\"do\"\(off)>Ring it</button></div><p class=\"answer\" role=\"status\" data-keep></p></form>"
        )
    }

    private var previews: Surface {
        let rows = codes.map { code -> HTML in
            let known = AlertCode(rawValue: code)
            let what: HTML = known.map { "<span class=\"facts\">\($0.message)</span>" } ?? ""
            return
                "<li data-key=\"preview-\(code)\"><span><strong>\(StoryWords.name(of: code))</strong> \(what)</span><button type=\"button\" data-command=\"preview\" data-alert=\"\(code)\"\(off)>Show<span class=\"unseen\"> \(StoryWords.name(of: code))</span></button></li>\n"
        }
        return Surface(
            .previews,
            "<h2>How alerts look</h2><details data-key=\"previews\"><summary>Previews of \(codes.count) alerts</summary><p class=\"facts\">Shows an alert on the screen. Nothing is the matter then, and the alert says so.</p><ul class=\"plain codes\">\(rows)</ul></details>"
        )
    }
}
