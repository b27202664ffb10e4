// `islet verify`: what was changed is found, whatever it was; what was not changed is not complained of.

import Foundation
import Testing

private let study = """
    study: checked
    duration: 1d
    record: full
    faults: all
    cohort: { generate: { model: uva-padova-2008, count: 2 } }
    arms: [{ name: a, algorithm: basal-bolus }, { name: b, algorithm: pid-insulin-feedback }]

    """

private func withRun(_ body: (_ folder: String, _ out: String) throws -> Void) throws {
    try withFolder { folder in
        try write(study, to: folder + "/study.yaml")
        let run = try islet("run", folder + "/study.yaml", "--quiet", "--out", folder + "/out")
        #expect(run.status == 0, "\(run.error)")
        try body(folder, folder + "/out")
    }
}

private func sqlite(_ path: String, _ sql: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
        "python3", "-c",
        "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.commit(); c.close()",
        path, sql,
    ]
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
}

/// Runs Python over the folder `out`.
private func edit(_ out: String, _ script: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-c", "import json,sys\nout=sys.argv[1]\n" + script, out]
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
}

/// Writes the manifest's hashes again, as whoever hides a change would.
private func hashAgain(_ out: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
        "python3", "-c",
        """
        import hashlib,json,sys
        path=sys.argv[1]+'/manifest.json'
        m=json.load(open(path))
        for n in m['files']: m['files'][n]='sha256:'+hashlib.sha256(open(sys.argv[1]+'/'+n,'rb').read()).hexdigest()
        json.dump(m,open(path,'w'),indent=2)
        """, out,
    ]
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
}

@Suite struct VerifyCommandTests {
    @Test func anUntouchedFolderHasNoFindings() throws {
        try withRun { _, out in
            let verify = try islet("verify", out)
            #expect(verify.status == 0 && verify.error.isEmpty, "\(verify.output)")
            let lines = verify.output.split(separator: "\n")
            #expect(lines.count == 2 && lines[0] == "\(out): nothing is off; 4 sessions run again")
            #expect(lines[1].hasPrefix("not excluded: without a seal"))
            #expect(lines[1].contains("as no plan was registered before the first session"))
            #expect(try islet("verify", out, "--sample", "1").output.contains("1 sessions run again"))
            #expect(try islet("verify", out, "--session", "3").status == 0)
            #expect(try islet("verify", out, "--session", "4").status == 1)
        }
    }

    @Test func aChangedFileIsFoundByItsHash() throws {
        try withRun { _, out in
            for name in ["sessions.csv", "summary.json", "study.sqlite"] {
                let before = try Data(contentsOf: URL(filePath: out + "/" + name))
                var changed = before
                changed[changed.count - 1] ^= 1
                try changed.write(to: URL(filePath: out + "/" + name))
                let verify = try islet("verify", out, "--sample", "0")
                #expect(verify.status == 1)
                #expect(verify.output.contains("\(name): sha256:"), "\(verify.output)")
                try before.write(to: URL(filePath: out + "/" + name))
            }
            #expect(try islet("verify", out, "--sample", "0").status == 0)
        }
    }

    /// The hash of the changed file stands in the manifest: only what the files say, and the sessions themselves, tell.
    @Test(arguments: [
        (
            "UPDATE sessions SET tir_70_180_percent = tir_70_180_percent + 0.5 WHERE session = 1",
            "tir_70_180_percent"
        ),
        ("UPDATE sessions SET digest = 'x' WHERE session = 2", "digest"),
        ("UPDATE sessions SET lived_days = 0.5 WHERE session = 0", "lived_days"),
        ("UPDATE sessions SET ended_early = 'left' WHERE session = 0", "ended_early"),
        ("UPDATE truth SET plasma_mgdl = 100 WHERE session = 1 AND seq = 7", "truth: plasma_mgdl of row 7"),
        ("DELETE FROM readings WHERE session = 3 AND seq > 100", "readings: fewer rows"),
        ("UPDATE steps SET accepted_u = 1.5 WHERE session = 1 AND seq = 2", "steps: accepted_u of row 2"),
        (
            "UPDATE person_events SET amount = 1 WHERE session = 1 AND seq = 0",
            "person_events: amount of row 0"
        ),
    ])
    func aChangedDatabaseIsFoundWhateverItsHash(_ sql: String, _ finding: String) throws {
        try withRun { _, out in
            try sqlite(out + "/study.sqlite", sql)
            try hashAgain(out)
            let verify = try islet("verify", out)
            #expect(verify.status == 1)
            #expect(verify.output.contains(finding), "\(verify.output)")
            #expect(!verify.output.contains("sha256"))
            #expect(verify.error.contains(" finding") && verify.error.contains("4 sessions run again"))
        }
    }

    @Test func tablesThatDisagreeAreFoundByLineAndKey() throws {
        try withRun { _, out in
            let csv = try read(out + "/sessions.csv")
            let lines = csv.split(separator: "\n")
            var cells = lines[2].split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            let names = lines[0].split(separator: ",").map(String.init)
            let column = try #require(names.firstIndex(of: "mean_mgdl"))
            cells[column] = "99"
            try write(
                csv.replacingOccurrences(of: lines[2], with: cells.joined(separator: ",")),
                to: out + "/sessions.csv")
            let json = try read(out + "/summary.json")
            try write(
                json.replacingOccurrences(of: "\"failed_sessions\": 0", with: "\"failed_sessions\": 1"),
                to: out + "/summary.json")
            try hashAgain(out)
            let verify = try islet("verify", out, "--sample", "0")
            #expect(verify.status == 1)
            #expect(verify.output.contains("sessions.csv:3: session 1: mean_mgdl is 99, study.sqlite says "))
            #expect(verify.output.contains("summary.json: failed_sessions is 1, not 0"), "\(verify.output)")
        }
    }

    @Test func whatIsLackingIsNamed() throws {
        try withRun { _, out in
            try sqlite(
                out + "/study.sqlite",
                """
                PRAGMA foreign_keys = OFF;
                DELETE FROM sessions WHERE session = 2;
                """)
            try hashAgain(out)
            let lacking = try islet("verify", out)
            #expect(lacking.status == 1 && lacking.output.contains("study.sqlite: session 2 lacking"))
            try FileManager.default.removeItem(atPath: out + "/summary.json")
            #expect(try islet("verify", out, "--sample", "0").output.contains("summary.json: is not there"))
            try FileManager.default.removeItem(atPath: out + "/manifest.json")
            let unknown = try islet("verify", out, "--sample", "0")
            #expect(unknown.status == 1 && unknown.output.contains("manifest.json: is not there"))
            try FileManager.default.removeItem(atPath: out + "/study.sqlite")
            #expect(try islet("verify", out).status == 66)
        }
    }

    /// One column fewer and one unknown more, as another version would have written them.
    @Test func aFolderOfAnotherVersionIsReadAndVerified() throws {
        try withRun { _, out in
            try sqlite(
                out + "/study.sqlite",
                """
                ALTER TABLE sessions DROP COLUMN mage_mgdl;
                ALTER TABLE sessions ADD COLUMN of_tomorrow REAL;
                UPDATE sessions SET of_tomorrow = 0.5 + session;
                """)
            try edit(
                out,
                """
                rows=[l.split(',') for l in open(out+'/sessions.csv').read().splitlines()]
                k=rows[0].index('mage_mgdl')
                for n,r in enumerate(rows): del r[k]; r.append('of_tomorrow' if n==0 else str(n-0.5))
                open(out+'/sessions.csv','w').write(''.join(','.join(r)+'\\n' for r in rows))
                s=json.load(open(out+'/summary.json'))
                for a in s['arms']:
                    del a['outcomes']['mage_mgdl']
                    a['outcomes']['of_tomorrow']={'mean':1,'sd':None,'ci95':None,'n':2}
                s['comparisons']=[c for c in s['comparisons'] if c['metric']!='mage_mgdl']
                s['comparisons'].append(dict(s['comparisons'][0],metric='of_tomorrow'))
                del s['primary']
                for c in s['comparisons']: del c['family']
                json.dump(s,open(out+'/summary.json','w'))
                # Its page is another program's too, and tells of its own summary.
                m=json.load(open(out+'/manifest.json'))
                m['report_program_sha256']='0'*64
                json.dump(m,open(out+'/manifest.json','w'))
                import re
                h=open(out+'/report.html').read()
                h=re.sub(r'data-path="comparisons[^"]*"','',h)
                open(out+'/report.html','w').write(h)
                """)
            try hashAgain(out)
            let verify = try islet("verify", out)
            #expect(verify.status == 0, "\(verify.output)\(verify.error)")
            #expect(verify.output.contains("report.html: another program made it"))
            for command in [["replay", out, "--session", "1"], ["export", out, "--what", "readings"]] {
                let read = try islet(command)
                #expect(read.status == 0, "\(command): \(read.error)")
            }
            // A column that the store has, and that the table lost, is found all the same.
            try edit(
                out,
                """
                rows=[l.split(',') for l in open(out+'/sessions.csv').read().splitlines()]
                k=rows[0].index('mean_mgdl')
                for r in rows: del r[k]
                open(out+'/sessions.csv','w').write(''.join(','.join(r)+'\\n' for r in rows))
                """)
            try hashAgain(out)
            let lost = try islet("verify", out)
            #expect(lost.status == 1)
            #expect(lost.output.contains("sessions.csv: no column mean_mgdl, which study.sqlite has"))
        }
    }
}
