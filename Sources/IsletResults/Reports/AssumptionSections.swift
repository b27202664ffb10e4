// What the numbers rest on, and how to get them again.
//
// Guarantees: every setting of the person, of the week and of what fails that was in force stands here with its source; what nobody has published is marked, and
// stands first. Commands are those of this folder's study.

import IsletAlerts
import IsletLoop
import IsletFiles
import IsletDevices
import IsletPeople
import IsletModels
import IsletKernel
import IsletTrials

struct AssumptionSections {
    let input: ReportInput
    private var study: Study { input.study }

    init(_ input: ReportInput) { self.input = input }

    private struct Row {
        var name: String
        var unit: String
        var value: String
        var meaning: String
        var source: String
        var isAssumed: Bool
    }

    var assumptions: HTML {
        guard input.isOfPeople else { return watched }
        var text = setting
        let people = personRows
        let life = lifeRows
        if people.isEmpty && life.isEmpty {
            text +=
                "<p>Nobody listens in this study, and every day is planned alike: no assumption on people's behaviour is in force.</p>\n"
        }
        let rows = people + life + faultRows
        let assumed = rows.filter(\.isAssumed)
        let published = rows.filter { !$0.isAssumed }
        if !assumed.isEmpty {
            text += "<h3>Assumed: nobody has published these</h3>\n" + table(assumed, "why")
            text +=
                "<p class=\"note\"><code>islet run ... --sensitivity</code> asks whether the ranking of arms holds when they are otherwise.</p>\n"
        }
        if !published.isEmpty {
            text += "<h3>Published, or a rule of practice</h3>\n" + table(published, "source")
        }
        return text
    }

    private func table(_ rows: [Row], _ source: String) -> HTML {
        let lines = rows.map { row -> HTML in
            "<tr><th scope=\"row\"><code>\(row.name)</code></th><td class=\"n\">\(row.value) \(row.unit)</td><td>\(HTML(prose: row.meaning))</td><td>\(HTML(prose: row.source))</td></tr>\n"
        }
        return TableSections.frame(
            source == "why" ? "Assumed settings" : "Published settings",
            "<table class=\"settings\"><thead><tr><th scope=\"col\">setting</th><th scope=\"col\" class=\"n\">value</th><th scope=\"col\">meaning</th><th scope=\"col\">\(source)</th></tr></thead><tbody>\n\(lines)</tbody></table>"
        )
    }

    /// Who, what and when, in lines.
    private var setting: HTML {
        var lines: [HTML] = []
        switch study.cohort {
        case .generate(let people):
            lines.append(
                "\(Describe.people(input)), drawn by the seed \(study.seed): model <code>\(people.model.id)</code>, \(people.group.rawValue)"
            )
        case .table(let table):
            lines.append(
                "\(input.people) people of the table <code>\(table.path)</code>: model <code>\(table.model.id)</code>"
            )
        }
        lines.append(
            "sensor \(Describe.tuned(study.sensor)), pump <code>\(study.pump.device.id)</code>, start \(study.start.calendar.iso8601(at: .start)), \(Describe.duration(study))"
        )
        lines.append(
            study.scenario.life == nil
                ? "meals as planned, every day alike in body and habits"
                : "an ordinary week (<code>life</code>): sensitivity, meals, counting and therapy vary as docs/life.md says"
        )
        lines.append(
            study.faults == .none
                ? "nothing fails: no fault comes by chance or by plan"
                : "faults: \(study.faults.settings.count { $0 != .off }) kinds come by chance, at the rates below\(study.faults.scheduled.isEmpty ? "" : ", and by plan:" as HTML)"
        )
        for entry in study.faults.scheduled.prefix(20) {
            lines.append(
                "fault <code>\(entry.kind.id)</code> at \(entry.time.description) for \(entry.length.description)"
            )
        }
        if study.faults.scheduled.count > 20 {
            lines.append("\(study.faults.scheduled.count - 20) more planned faults: manifest.json")
        }
        for arm in study.arms.prefix(20) {
            let sensor: HTML = arm.sensor.map { ", sensor \(Describe.tuned($0))" } ?? ""
            lines.append(
                "arm <b>\(arm.name)</b>: algorithm \(Describe.tuned(arm.algorithm))\(sensor), alerts <code>\(arm.alerts.name)</code>, person \(Describe.person(in: arm, study))\(arm.luckOffset == 0 ? "" : ", luck \(arm.luckOffset)" as HTML)"
            )
        }
        if study.arms.count > 20 { lines.append("\(study.arms.count - 20) more arms: manifest.json") }
        return "<ul>\(lines.map { "<li>\($0)</li>" as HTML })</ul>\n"
    }

    /// The section for subjects that are watched: all of it is assumed but what the kind's documents name.
    private var watched: HTML {
        let kind = study.subject.kind
        var lines: [HTML] = [
            "\(Describe.people(input)), drawn by the seed \(study.seed): <code>\(kind.id)</code>, \(kind.summary)",
            "start \(study.start.calendar.iso8601(at: .start)), \(Describe.duration(study))",
        ]
        for arm in study.arms.prefix(20) {
            let keeper: HTML =
                (arm.keeper ?? study.keeper).isDeaf
                ? "hears nothing" : arm.keeper == nil ? "as below" : "of its own"
            lines.append(
                "arm <b>\(arm.name)</b>: alerts <code>\(arm.alerts.name)</code>, keeper \(keeper)\(arm.luckOffset == 0 ? "" : ", luck \(arm.luckOffset)" as HTML)"
            )
        }
        let own = zip(kind.parameters, study.subject.values).map { parameter, value in
            row(
                "subject.\(parameter.name)", parameter.unitWords,
                number(value, parameter.unit), parameter.meaning, source: "assumed", isAssumed: true)
        }
        let keeper = KeeperSettings.rows.map { one in
            row(
                "keeper.\(one.name)", one.unit, number(study.keeper[keyPath: one.path], one.unit),
                one.meaning,
                source: "assumed", isAssumed: true)
        }
        return
            "<ul>\(lines.map { "<li>\($0)</li>" as HTML })</ul>\n<h3>Assumed: nobody has published these</h3>\n"
            + table(own + keeper, "why")
    }

    /// A row for each kind of fault that comes by chance.
    private var faultRows: [Row] {
        zip(FaultKind.all, study.faults.settings).compactMap { kind, setting in
            let value: String
            switch setting {
            case .off: return nil
            case .rate(let rate): value = kind.rate.unit == nil ? "on" : number(rate, "")
            case .ratesByAge(let rates):
                let groups = [
                    ("child", rates.child), ("adolescent", rates.adolescent), ("adult", rates.adult),
                    ("age unknown", rates.other),
                ]
                value = groups.map { "\(number($0.1, "")) (\($0.0))" }.joined(separator: "; ")
            }
            return row(
                "faults.\(kind.id)", kind.rate.unit ?? "", value, kind.meaning, source: kind.source,
                isAssumed: kind.source.hasPrefix("assumed"))
        }
    }

    /// A row for each setting of the people. A value that they differ in names the presets, or the arms where one preset has several values.
    private var personRows: [Row] {
        let people = study.arms.compactMap { arm in study.person(in: arm).map { (arm.name, $0) } }
        guard !people.isEmpty else { return [] }
        return PersonSettings.rows.compactMap { row in
            let unused = PersonSettings.announcingRows.contains { $0.name == row.name }
            let used = people.filter { !unused || $0.1.announcing == .own }
            guard !used.isEmpty else { return nil }
            var values: [(value: Double, presets: [String], arms: [String])] = []
            for (arm, person) in used {
                let value = person[keyPath: row.path]
                let preset = person.preset.rawValue
                if let place = values.firstIndex(where: { $0.value == value }) {
                    if !values[place].presets.contains(preset) { values[place].presets.append(preset) }
                    values[place].arms.append(arm)
                } else {
                    values.append((value, [preset], [arm]))
                }
            }
            let presets = values.flatMap(\.presets)
            let isByPreset = Set(presets).count == presets.count
            let text =
                values.count == 1
                ? number(values[0].value, row.unit)
                : values.map {
                    let names = isByPreset ? $0.presets : $0.arms
                    return "\(number($0.value, row.unit)) (\(Describe.list(names, most: 6)))"
                }.joined(separator: "; ")
            return self.row(
                row.name, row.unit, text, row.meaning, source: row.source.text,
                isAssumed: row.source.isAssumed)
        }
    }

    private var lifeRows: [Row] {
        guard let life = study.scenario.life else { return [] }
        return LifeSettings.rows.map { row in
            self.row(
                row.name, row.unit, number(life.settings[keyPath: row.path], row.unit), row.meaning,
                source: row.source.text, isAssumed: row.source.isAssumed)
        }
            + HabitSettings.rows.map { row in
                self.row(
                    row.name, row.unit, number(life.habits[keyPath: row.path], row.unit), row.meaning,
                    source: row.source.text, isAssumed: row.source.isAssumed)
            }
    }

    /// In the page's unit; sentences as the settings' own pages have them.
    private func row(
        _ name: String, _ unit: String, _ value: String, _ meaning: String, source: String, isAssumed: Bool
    ) -> Row {
        Row(
            name: name, unit: input.unit.text(ofUnit: unit), value: value, meaning: meaning, source: source,
            isAssumed: isAssumed)
    }

    private func number(_ value: Double, _ unit: String) -> String {
        guard !input.unit.converts(unit) else {
            return ChartNumber.text(value * input.unit.factor(of: unit), places: input.unit.places(of: unit))
        }
        var text = ChartNumber.text(value, places: 4)
        while text.contains("."), text.hasSuffix("0") || text.hasSuffix(".") { text.removeLast() }
        return text
    }

    // MARK: Again

    var again: HTML {
        let folder = "DIR"
        var lines: [HTML] = []
        if let version = input.origin.version { lines.append("Islet \(version)") }
        if let commit = input.origin.commit { lines.append("commit <code>\(commit)</code>") }
        if let fingerprint = input.origin.fingerprint {
            lines.append("numeric fingerprint <code>\(fingerprint)</code>")
        }
        lines.append("seed \(study.seed)")
        lines.append("digest of all sessions <code>\(input.summary.digest)</code>")
        return """
            <p>With <code>DIR</code> for the folder of these results. A session is a function of its study: the same study gives the same digests, on any number of threads.</p>
            <pre tabindex="0"><code>sqlite3 \(folder)/study.sqlite 'SELECT text FROM study' &gt; study.yaml
            islet run study.yaml --out again
            islet verify \(folder)
            islet report \(folder)
            islet replay \(folder) --session 0
            islet export \(folder) --what truth --out truth.csv</code></pre>
            <p class="facts">\(lines.joined(" · "))</p>

            """
    }
}
