// Forty ways to make a results folder say something else, several at once, with hashes mended: `islet verify` names every one.

import Foundation
import Testing

private let study = """
    study: honest
    question: Does waiting 15 min cost lows?
    seed: 5
    duration: 1d
    scenario: { preset: life }
    cohort: { generate: { model: uva-padova-2008, count: 3 } }
    person: typical
    arms:
      - { name: usual, algorithm: basal-bolus, alerts: dexcom-g7 }
      - { name: deaf, algorithm: basal-bolus, alerts: dexcom-g7, person: deaf }
    sweep: { of: dexcom-g7, mode: closed, grid: { "rules[LOW,HIGH].debounce": [0s, 15m] } }
    policies: [bionicloop, loop]
    primary: [tbr_54_percent, alerts_notifications_per_day]
    margin: { tbr_54_percent: 0.2 }

    """

private func python(_ out: String, _ script: String, _ more: String...) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
        [
            "python3", "-c",
            """
            import json,sys,re,os,hashlib,sqlite3,shutil
            out=sys.argv[1]
            def text(n): return open(out+'/'+n).read()
            def put(n,t): open(out+'/'+n,'w').write(t)
            def swap(n,a,b,count=1):
                t=text(n); assert a in t, (n,a); put(n,t.replace(a,b,count))
            def load(n): return json.load(open(out+'/'+n))
            def dump(n,o): json.dump(o,open(out+'/'+n,'w'),indent=2)
            def sql(s):
                c=sqlite3.connect(out+'/study.sqlite'); c.executescript(s); c.commit(); c.close()
            def cell(n,row,column,value):
                rows=[l.split(',') for l in text(n).splitlines()]
                rows[row][rows[0].index(column)]=value
                put(n,''.join(','.join(r)+'\\n' for r in rows))
            def plan(change):
                p=load('plan.json'); change(p['plan'])
                compact=json.dumps(p['plan'],separators=(',',':'),ensure_ascii=False)
                p['digest']=hashlib.sha256(compact.encode()).hexdigest()
                dump('plan.json',p)
                m=load('manifest.json'); m['plan']['digest']=p['digest']; dump('manifest.json',m)
            """ + "\n" + script + """

                m=load('manifest.json')
                for n in list(m['files']):
                    if os.path.exists(out+'/'+n):
                        m['files'][n]='sha256:'+hashlib.sha256(open(out+'/'+n,'rb').read()).hexdigest()
                dump('manifest.json',m)
                """, out,
        ] + more
    let error = Pipe()
    process.standardError = error
    try process.run()
    let said = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(script): \(said)")
}

/// A change, and what `verify` has to say of it.
private struct Deception {
    var script: String
    var finding: String

    init(_ script: String, _ finding: String) { (self.script, self.finding) = (script, finding) }

    /// Found by what the folder itself says, and by the sessions that are run again: numbers in each file; people, policies, the study's own facts; the
    /// report; sessions left out, doubled, exchanged; plan, margin, primaries. Each row is done to one folder, which is told of all of them; what
    /// would hide another, or bring its words, stands in another row. ISLET_SOAK has each done alone.
    static let all: [[Deception]] = [
        [
            .init("cell('sessions.csv',2,'mean_mgdl','99')", "sessions.csv:3: session 1: mean_mgdl is 99"),
            .init("cell('sessions.csv',1,'digest','0'*32)", "sessions.csv:2: session 0: digest is"),
            .init(
                "cell('alerts.csv',1,'notified','777')",
                "notified is 777"),
            .init(
                "s=load('summary.json'); s['arms'][2]['outcomes']['tbr_54_percent']['mean']=0.01; dump('summary.json',s)",
                "summary.json: arms[2].outcomes.tbr_54_percent.mean is 0.01"),
            .init(
                "s=load('summary.json'); s['comparisons'][0]['difference']=-1.5; dump('summary.json',s)",
                "summary.json: comparisons[0].difference is -1.5"),
            .init(
                "s=load('summary.json'); s['claims']['findings'][0]['verdict']='non-inferior'; s['claims']['refused']=None; dump('summary.json',s)",
                "summary.json: claims.findings[0].verdict is"),
            .init(
                "s=load('summary.json'); s['claims']['margin']['tbr_54_percent']=2; dump('summary.json',s)",
                "summary.json: claims.margin.tbr_54_percent is 2"),
            .init(
                "s=load('summary.json'); s['sweep']['headline']='15m spares rings and costs nothing.'; dump('summary.json',s)",
                "summary.json: sweep.headline is"),
            .init(
                "s=load('summary.json'); s['failed_sessions']=2; dump('summary.json',s)",
                "summary.json: failed_sessions is 2"),
            .init(
                "s=load('summary.json'); s['digest']='0'*64; dump('summary.json',s)",
                "summary.json: digest is"),
            .init(
                "m=load('manifest.json'); m['study']['margin']['tbr_54_percent']=1; dump('manifest.json',m)",
                "manifest.json: study is not the one in study.sqlite"),
        ],
        [
            .init(
                "s=load('summary.json'); s['policies'][0]['outcomes']['alerts_notifications_per_day']['mean']=0; dump('summary.json',s)",
                "summary.json: policies[0].outcomes.alerts_notifications_per_day.mean is 0,"),
            .init(
                "sql('UPDATE sessions SET tbr_54_percent = 7 WHERE session = 2')",
                "session 2: tbr_54_percent is 7.0, run again"),
            .init(
                "sql(\"UPDATE sessions SET ended_early = 'left' WHERE session = 1\")",
                "session 1: ended_early is left, run again"),
            .init(
                "sql('UPDATE person_events SET amount = 1 WHERE session = 2 AND seq = 0')",
                "person_events: amount of row 0"),
            .init(
                "sql('UPDATE policy_outcomes_coded SET alerts_false_per_day = 9 WHERE session = 0')",
                "session 0, policy_outcomes: alerts_false_per_day of row 1, bionicloop is 9.0, run again"),
            .init(
                "rows=text('people.csv').splitlines(); r=rows[1].split(','); k=[n for n,v in enumerate(r) if re.fullmatch(r'[0-9]+[.][0-9]+',v)][0]; r[k]=str(float(r[k])*1.01); rows[1]=','.join(r); put('people.csv','\\n'.join(rows)+'\\n')",
                "people.csv: is not the people of the study"),
            .init(
                "p=load('policies.json'); k=list(p)[0]; p[k]['rules'][0]['debounce']='30m'; dump('policies.json',p)",
                "policies.json: dexcom-g7 is not the policy of the study"),
            .init(
                "p=load('policies.json'); del p['loop']; dump('policies.json',p)",
                "policies.json: loop is not the policy of the study"),
            .init(
                "m=load('manifest.json'); m['cohort_checksum']='0'*32; dump('manifest.json',m)",
                "manifest.json: cohort_checksum"),
        ],
        [
            .init(
                "sql('UPDATE sessions SET lived_days = 0.5 WHERE session = 0')",
                "session 0: lived_days is 0.5, run again"),
            .init(
                "sql('UPDATE alerts_coded SET notified = notified + 1 WHERE session = 0')",
                "session 0, alerts: notified of row 1, bionicloop, ALERT-PUMP-FAULT is 1, run again it is 0"),
            .init(
                "m=load('manifest.json'); m['seed']=6; dump('manifest.json',m)",
                "manifest.json: seed is not 5"),
            .init(
                "m=load('manifest.json'); m['subjects']=4; dump('manifest.json',m)",
                "manifest.json: subjects is 4"),
            .init(
                "sql(\"UPDATE study SET start = '2026-03-09T06:00:00-05:00'\")",
                "study.sqlite: study: start is"),
            .init("sql('UPDATE study SET utc_offset_s = 0')", "study.sqlite: study: utc_offset_s is 0"),
            .init("sql(\"UPDATE study SET version = '9.9.9'\")", "study.sqlite: study: version is 9.9.9"),
            .init(
                "t=text('report.html'); k=t.index('data-path=\"'); e=t.index('>',k); f=t.index('<',e); put('report.html',t[:e+1]+'0.00777'+t[f:])",
                "is 0.00777, summary.json says"),
            .init(
                "sql('PRAGMA foreign_keys = OFF; DELETE FROM sessions WHERE session = 4')",
                "study.sqlite: session 4 lacking"),
        ],
        [
            .init("swap('report.html','No claim','A claim')", "A claim: it is refused"),
            .init("os.remove(out+'/alerts.csv')", "alerts.csv: is not there"),
            .init(
                "sql(\"UPDATE study SET text = replace(text, 'tbr_54_percent: 0.2', 'tbr_54_percent: 0.4')\")",
                "plan.json: the plan was changed: margin was"),
            .init(
                "plan(lambda p: p.update(primary=['tir_70_180_percent']))",
                "plan.json: the plan was changed: primary was [\"tir_70_180_percent\"]"),
            .init(
                "plan(lambda p: p.update(question='Something else?'))",
                "plan.json: the plan was changed: question was"),
        ],
        [
            .init("swap('report.html','</body>','<p>Approved.</p></body>')", "<p>Approved.</p>"),
            .init(
                "m=load('manifest.json'); m['study']['primary'].reverse(); dump('manifest.json',m)",
                "manifest.json: study is not the one in study.sqlite"),
            .init(
                "m=load('manifest.json'); m['plan']['before_first_session']=False; dump('manifest.json',m)",
                "manifest.json: plan is not the one of plan.json"),
            .init("cell('sweep.csv',2,'tbr_54_percent','0')", "sweep.csv: is not what study.sqlite comes to"),
        ],
        [
            .init(
                "p=load('plan.json'); p['plan']['seeds']['study']=9; dump('plan.json',p)",
                "plan.json: found a plan whose digest is")
        ],
        [
            .init(
                "c=sqlite3.connect(out+'/study.sqlite'); names=[r[1] for r in c.execute('PRAGMA table_info(sessions)') if r[1] not in ('session','subject_index','subject','arm_index','arm')]; c.execute('UPDATE sessions SET '+','.join('%s=(SELECT %s FROM sessions WHERE session=0)'%(n,n) for n in names)+' WHERE session=3'); c.commit(); c.close()",
                "study.sqlite: session 3: ")
        ],
    ]
}

@Suite struct DeceptionTests {
    private func withHonest(_ body: (_ folder: String, _ out: String) throws -> Void) throws {
        try withFolder { folder in
            try write(study, to: folder + "/study.yaml")
            try write("a secret that nobody guesses: 7f3a9c", to: folder + "/key")
            let register = try islet("register", folder + "/study.yaml")
            #expect(register.status == 0, "\(register.error)")
            let run = try islet(
                "run", folder + "/study.yaml", "--quiet", "--out", folder + "/out", "--seal", folder + "/key")
            #expect(run.status == 0, "\(run.error)")
            try body(folder, folder + "/out")
        }
    }

    private func copy(_ from: String, _ to: String) throws {
        try? FileManager.default.removeItem(atPath: to)
        try FileManager.default.copyItem(atPath: from, toPath: to)
    }

    /// Harm: who thinks in mmol/L, and writes so, is accused of having changed the page.
    @Test func aPageIsNotAccusedForNamingTheOtherUnit() throws {
        try withFolder { folder in
            try write(
                study.replacing(
                    "question: Does waiting 15 min cost lows?", with: "question: Is 3.9 mmol/L too low?"),
                to: folder + "/study.yaml")
            for unit in ["mg/dL", "mmol/L"] {
                let out = folder + "/" + unit.replacing("/", with: "-")
                let run = try islet("run", folder + "/study.yaml", "--quiet", "--units", unit, "--out", out)
                #expect(run.status == 0, "\(run.error)")
                let verified = try islet("verify", out, "--sample", "1")
                #expect(verified.status == 0, "\(unit): \(verified.output)\(verified.error)")
            }
        }
    }

    @Test func eachIsNamed() throws {
        try withHonest { folder, out in
            let honest = try islet(
                "verify", out, "--key", folder + "/key", "--plan", folder + "/study.plan.json")
            #expect(honest.status == 0, "\(honest.output)\(honest.error)")
            // With seal and plan nothing that is known is left open.
            #expect(!honest.output.contains("not excluded"), "\(honest.output)")
            let isSoak = ProcessInfo.processInfo.environment["ISLET_SOAK"] != nil
            let each = Deception.all.joined()
            #expect(each.count >= 40)
            for deceptions in isSoak ? each.map({ [$0] }) : Deception.all {
                let made = folder + "/made"
                try copy(out, made)
                let scripts = deceptions.map(\.script).joined(separator: "\n")
                try python(made, scripts)
                let verify = try islet("verify", made)
                #expect(verify.status == 1, "\(scripts)\n\(verify.output)")
                for deception in deceptions {
                    #expect(
                        verify.output.contains(deception.finding),
                        "\(deception.script)\n\(verify.output)\(verify.error)")
                }
                #expect(!verify.output.contains("manifest.json says sha256"), "\(verify.output)")
                // Whatever it was, the seal tells too.
                let sealed = try islet("verify", made, "--key", folder + "/key", "--sample", "0")
                #expect(
                    sealed.status == 1 && sealed.output.contains("has been changed since it was sealed")
                        || sealed.output.contains("is not there, and was sealed"), "\(scripts)")
            }
        }
    }

    /// The whole is made again, consistently, of another plan: only what somebody outside has tells.
    @Test func aWholeThatWasMadeAgainIsToldByKeyAndPlan() throws {
        try withHonest { folder, out in
            let other = folder + "/other.yaml"
            try write(
                study.replacingOccurrences(of: "tbr_54_percent: 0.2", with: "tbr_54_percent: 0.5"), to: other)
            // Registered anew, run, sealed with another key.
            #expect(try islet("register", other).status == 0)
            try write("another secret that nobody has: 0b", to: folder + "/key2")
            let run = try islet(
                "run", other, "--quiet", "--out", folder + "/again", "--seal", folder + "/key2")
            #expect(run.status == 0, "\(run.error)")
            let made = folder + "/again"
            let alone = try islet("verify", made, "--sample", "1")
            #expect(alone.status == 0 && alone.output.contains("not excluded: without a seal"))
            let byKey = try islet("verify", made, "--sample", "1", "--key", folder + "/key")
            #expect(byKey.status == 1 && byKey.output.contains("seal.json: is not of this key"))
            let byPlan = try islet("verify", made, "--sample", "1", "--plan", folder + "/study.plan.json")
            #expect(byPlan.status == 1)
            #expect(byPlan.output.contains("plan.json: is not the plan of"))
            #expect(
                byPlan.output.contains(
                    "the plan was changed: margin was {\"tbr_54_percent\":0.2}, and is {\"tbr_54_percent\":0.5}"
                ),
                "\(byPlan.output)")
            // A file that was put in, and a seal that was taken away.
            try write("x", to: out + "/notes.txt")
            let added = try islet("verify", out, "--sample", "0", "--key", folder + "/key")
            #expect(added.output.contains("notes.txt: was put in after the folder was sealed"))
            try FileManager.default.removeItem(atPath: out + "/seal.json")
            let unsealed = try islet("verify", out, "--sample", "0", "--key", folder + "/key")
            #expect(unsealed.status == 1 && unsealed.output.contains("seal.json: is not there"))
        }
    }

    @Test func aPlanIsRegisteredOnceAndHeldTo() throws {
        try withFolder { folder in
            let path = folder + "/study.yaml"
            try write(study, to: path)
            #expect(try islet("register", path).status == 0)
            #expect(try islet("register", path).status == 73)
            let plan = folder + "/study.plan.json"
            // Another study under that plan is refused where the plan is named, and counts as not registered where it only stands beside it.
            let set = ["--set", "margin.tbr_54_percent=0.1", "--quiet", "--no-report"]
            let named = try islet(["run", path, "--out", folder + "/named", "--plan", plan] + set)
            #expect(named.status == 65 && named.error.contains("margin was"), "\(named.error)")
            #expect(!FileManager.default.fileExists(atPath: folder + "/named"))
            let beside = try islet(["run", path, "--out", folder + "/beside"] + set)
            #expect(beside.status == 0 && beside.error.contains("count as not registered"), "\(beside.error)")
            #expect(try read(folder + "/beside/manifest.json").contains("\"registered\": false"))
            let kept = try islet("run", path, "--out", folder + "/kept", "--quiet")
            #expect(kept.status == 0)
            #expect(try read(folder + "/kept/manifest.json").contains("\"before_first_session\": true"))
            #expect(
                try read(folder + "/kept/report.html").contains(
                    "The plan was registered before the first session"))
            // Registered when the sessions were there already.
            try FileManager.default.moveItem(atPath: plan, toPath: folder + "/away.json")
            #expect(try islet("run", path, "--out", folder + "/late", "--quiet", "--no-report").status == 0)
            let late = try islet(
                "run", path, "--out", folder + "/late", "--quiet", "--resume", "--plan", folder + "/away.json"
            )
            #expect(late.status == 0, "\(late.error)")
            #expect(try read(folder + "/late/manifest.json").contains("\"before_first_session\": false"))
            #expect(try read(folder + "/late/report.html").contains("registered after the first session"))
            #expect(try islet("verify", folder + "/late", "--sample", "0").status == 0)
        }
    }

    @Test func aFolderThatWasMovedIsVerifiedReportedAndRerun() throws {
        try withFolder { folder in
            let path = folder + "/here/study.yaml"
            try FileManager.default.createDirectory(
                atPath: folder + "/here", withIntermediateDirectories: true)
            try write(
                "study: moved\nseed: 2\nduration: 1d\ncohort: { generate: { count: 3 } }\narms: [{ algorithm: basal-bolus }]\n",
                to: folder + "/here/people.yaml")
            #expect(
                try islet(
                    "cohort", "export", folder + "/here/people.yaml", "--out", folder + "/here/table.csv"
                ).status
                    == 0)
            try write(
                "policy: mine\nextends: dexcom-g7\nrules: [{ code: LOW, when: glucose < 75, debounce: 10m }]\n",
                to: folder + "/here/mine.yaml")
            try write(
                """
                study: moved
                seed: 2
                duration: 1d
                cohort: { table: table.csv }
                arms:
                  - { name: a, algorithm: basal-bolus, alerts: mine.yaml }
                  - { name: b, algorithm: pid-insulin-feedback, alerts: mine.yaml }

                """, to: path)
            #expect(try islet("run", path, "--quiet", "--out", folder + "/here/out").status == 0)
            try FileManager.default.createDirectory(
                atPath: folder + "/there", withIntermediateDirectories: true)
            try FileManager.default.moveItem(atPath: folder + "/here/out", toPath: folder + "/there/out")
            try FileManager.default.removeItem(atPath: folder + "/here")
            let out = folder + "/there/out"
            let verify = try islet("verify", out)
            #expect(
                verify.status == 0 && verify.output.contains("6 sessions run again"),
                "\(verify.output)\(verify.error)")
            let page = try read(out + "/report.html")
            #expect(try islet("report", out).status == 0)
            #expect(try read(out + "/report.html") == page)
            let rerun = try islet("rerun", out, "--out", folder + "/there/again", "--quiet")
            #expect(
                rerun.status == 0 && rerun.output.contains("the same digest as"),
                "\(rerun.output)\(rerun.error)")
            let run = try islet("run", out + "/manifest.json", "--out", folder + "/there/third", "--quiet")
            #expect(run.status == 0, "\(run.error)")
            #expect(try islet("verify", folder + "/there/third", "--sample", "1").status == 0)
            #expect(try islet("export", out, "--what", "readings", "--session", "0").status == 0)
            // Another table in the folder is other people.
            let table = try read(out + "/people.csv")
            var rows = table.split(separator: "\n").map(String.init)
            rows.swapAt(1, 2)
            try write(rows.joined(separator: "\n") + "\n", to: out + "/people.csv")
            try python(out, "")
            let swapped = try islet("verify", out)
            #expect(
                swapped.status == 1
                    && swapped.output.contains("subject is adult#001, run again it is adult#002"),
                "\(swapped.output)")
            #expect(swapped.output.contains("table_sha256 was"), "\(swapped.output)")
        }
    }
}
