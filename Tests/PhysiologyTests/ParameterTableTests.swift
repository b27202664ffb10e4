// Tables and inputs as users have them, and as users break them.

import IsletDevices
import Testing

@testable import IsletModels

@Suite struct ParameterTableTests {
    private static let required = ModelKind.uvaPadova2008.columns

    /// A table of generated adults in the field's manner: quoted names, extra columns, initial values.
    private func table(
        dropping dropped: Set<String> = [], changing: [String: String] = [:], x0: Bool = true, rows: Int = 2
    ) throws -> String {
        var header = ["Name", "i"]
        if x0 { header += ModelKind.uvaPadova2008.initialStateColumns }
        header += Self.required.map(\.name) + ["patient_history"]
        var text = header.filter { !dropped.contains($0) }.joined(separator: ",") + "\r\n"
        for index in 0..<rows {
            let p = try generatedParameters(.adult, index)
            var values = ["\"adult#00\(index + 1)\"", "\(index)"]
            if x0 { values += p.steadyState.map { "\($0)" } }
            values += ModelParameters(p).values.map { "\($0)" } + ["0"]
            text +=
                zip(header, values).filter { !dropped.contains($0.0) }
                .map { changing[$0.0] ?? $0.1 }.joined(separator: ",") + "\r\n"
        }
        return text
    }

    private func problem(_ text: String) -> InputError? {
        do {
            _ = try ParameterTable(text, file: "t.csv", model: .uvaPadova2008)
            return nil
        } catch { return error }
    }

    @Test func aTableReadsBackWhatItSays() throws {
        let table = try ParameterTable(try table(), file: "t.csv", model: .uvaPadova2008)
        #expect(table.entries.map(\.name) == ["adult#001", "adult#002"])
        #expect(table.entries.map(\.line) == [2, 3])
        let p = try generatedParameters(.adult, 1)
        #expect(table.entries[1].parameters == ModelParameters(p))
        #expect(table.entries[1].initialState == p.steadyState)
        #expect(table.entries[1].carbohydrateRatio == nil)
    }

    @Test func derivedColumnsAreComputedWhenMissingAndKeptWhenGiven() throws {
        let derived: Set<String> = [
            "m2", "m4", "m30", "Ipb", "Ilb", "u2ss", "isc1ss", "isc2ss", "Gpb", "Gtb", "Vm0", "kp1",
        ]
        let computed = try ParameterTable(
            try table(dropping: derived, x0: false), file: "t.csv", model: .uvaPadova2008)
        let p = try generatedParameters(.adult, 0)
        #expect(computed.entries[0].parameters == ModelParameters(p))
        #expect(computed.entries[0].initialState == nil)
        // A published row's m4 is 5.7 % off its formula; the rest of the row closes the steady state with it.
        let m4 = 1.057 * p.m4
        let own = try ParameterTable(
            try table(dropping: ["u2ss", "isc1ss", "isc2ss"], changing: ["m4": "\(m4)"], rows: 1),
            file: "t.csv",
            model: .uvaPadova2008)
        guard let kept = own.entries[0].parameters.base as? UVAPadova2008.Parameters else { return }
        #expect(kept.m4 == m4 && kept.u2ss > p.u2ss)
    }

    /// A base column that is moved by 2 % leaves the columns that follow from it behind: whoever ran such a row would fast at another
    /// level than it declares.
    @Test(arguments: [
        ("Gb", "Gpb"), ("Vg", "Gpb"), ("Ib", "Ipb"), ("Vi", "Ipb"), ("m1", "m30"), ("HEb", "m30"),
        ("EGPb", "Gtb"),
        ("k1", "Gtb"), ("k2", "Gtb"), ("Km0", "Vm0"), ("kp2", "kp1"), ("kp3", "kp1"), ("kd", "isc1ss"),
        ("ka1", "isc1ss"), ("ka2", "isc2ss"), ("Fsnc", "Gtb"),
    ]) func aJitteredBaseColumnIsRefusedOrRecomputed(base: String, derived: String) throws {
        let p = try generatedParameters(.adult, 0)
        let column = try #require(UVAPadova2008.Parameters.fields.first { $0.name == base })
        let jittered = try table(
            changing: [base: "\(p[keyPath: column.path] * 1.02)"], rows: 1)
        let refused = try #require(problem(jittered))
        #expect(refused.line == 2 && refused.found.hasSuffix("in column \(derived)"), "\(refused)")
        #expect(refused.expected.contains("derived: recompute"))
        let table = try ParameterTable(jittered, file: "t.csv", model: .uvaPadova2008, derived: .recompute)
        let entry = table.entries[0]
        guard let q = entry.parameters.base as? UVAPadova2008.Parameters else { return }
        #expect(
            entry.initialState == nil
                && q.validationError(given: ["Gpb", "Gtb", "Vm0", "kp1", "Ipb", "u2ss"]) == nil)
        // The person fasts at the level that the row declares.
        let model = entry.parameters.makeModel()
        try model.advance(byMinutes: 24 * 60)
        #expect(abs(model.plasmaGlucose.milligramsPerDecilitre - q.Gb) < 0.01)
    }

    @Test(arguments: [
        "BW", "ksc", "kp3", "Name",
    ]) func aMissingColumnIsNamed(column: String) throws {
        let found = problem(try table(dropping: [column]))
        #expect(found?.line == 1)
        #expect(found?.found.contains("‘\(column)’") == true)
    }

    @Test func clearanceIsNeededUnlessItsRatesAreThere() throws {
        #expect(problem(try table(dropping: ["CL"])) == nil)
        #expect(problem(try table(dropping: ["CL", "m4"]))?.found.contains("CL") == true)
        #expect(problem(try table(dropping: ["x0_12"]))?.found.contains("x0_12") == true)
    }

    @Test(arguments: [
        "", "abc", "nan", "inf", "-inf", "1e999", "0x10", "-5", "0", "1e300", "1,5", "１２",
    ]) func aBadNumberIsRefusedWithItsLine(value: String) throws {
        let found = problem(try table(changing: ["BW": value]))
        #expect(found?.line == 2, "\(value): \(String(describing: found))")
    }

    @Test func rowsThatMakeNoPersonAreRefused() throws {
        #expect(problem(try table(changing: ["kmin": "0.5", "kmax": "0.1"]))?.found.contains("kmax") == true)
        #expect(problem(try table(changing: ["b": "0.1", "d": "0.3"]))?.found.contains("d = 0.3") == true)
        #expect(problem(try table(changing: ["u2ss": "1e-6"]))?.found.contains("basal rate") == true)
        #expect(problem(try table(changing: ["EGPb": "0.5"]))?.found.contains("EGPb") == true)
    }

    @Test func duplicatesGarbageAndEmptyFilesAreRefused() throws {
        #expect(problem("")?.found == "an empty file")
        #expect(problem("\n\n")?.found == "an empty file")
        #expect(problem("Name,BW\n")?.line == 1)
        #expect(problem(try table(rows: 0))?.found == "no subject")
        #expect(problem(try table(changing: ["Name": "a"]))?.line == 3)
        #expect(problem(try table() + "adult#009,1,2\n")?.line == 4)
        #expect(problem("Name,Name\n")?.found.contains("twice") == true)
        #expect(problem(String(repeating: ",", count: 10_000))?.expected.contains("256") == true)
        #expect(problem("\"" + String(repeating: "x", count: 10_000)) != nil)
        #expect(problem("\"open")?.expected == "a closing quote on the same line")
        for bytes: [UInt8] in [[0, 1, 2, 255], [0x7F, 0x45, 0x4C, 0x46, 2, 1], [0xFF, 0xFE, 0x4E]] {
            #expect(throws: InputError.self) {
                try ParameterTable(bytes, file: "t.csv", model: .uvaPadova2008)
            }
        }
    }

    @Test func randomBytesNeverTrap() throws {
        var stream = TestStream(5)
        let good = Array(try table().utf8)
        for _ in 0..<300 {
            var bytes = good
            for _ in 0..<3 {
                bytes[Int(stream.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: stream.next())
            }
            _ = try? ParameterTable(bytes, file: "t.csv", model: .uvaPadova2008)
            _ = try? TraceInputs(bytes, file: "t.csv")
        }
    }

    @Test func anUnknownSubjectIsToldWhomThereIs() throws {
        let table = try ParameterTable(try table(), file: "t.csv", model: .uvaPadova2008)
        #expect(try table.entry(named: "adult#002").name == "adult#002")
        let error = #expect(throws: InputError.self) { try table.entry(named: "adult#077") }
        #expect(error?.expected.contains("adult#001") == true)
    }
}
