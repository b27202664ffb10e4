// A step that waits, as somebody sees it who is no program of `islet-step/1` and answers steps all the same: over HTTP.
//
// Guarantees: its rows are those of the protocol (`StepFields`, as `PluginLines` writes them), so that a field has one name, one unit and one absence whoever reads it.
// Does not: judge a dose. `RecordedSteps.Step` does.

package import IsletDevices
package import IsletFiles

package enum StepDoor {
    /// The handle of the only one who is asked.
    private static let handle: Int64 = 0

    /// A step, as `{"step":[...]}` has it.
    package static func row(_ question: StepQuestion) -> JSONValue {
        let text = PluginLines.text(AskedRow(handle: handle, question: question), StepFields.step)
        return (try? JSONValue.read(Array(text.utf8), file: "step")) ?? .null
    }

    /// A dose, as `{"dose":[...]}` has it.
    /// - Throws: `InputError` for what is no dose of a step, or none that would be given.
    package static func dose(_ row: JSONValue) throws(InputError) -> (number: Int64, step: RecordedSteps.Step)
    {
        func problem(_ found: String, _ expected: String) -> InputError {
            InputError(file: "message", found: found, expected: expected)
        }
        let dose: DoseRow
        do { dose = try PluginLines.dose(row) } catch {
            throw problem(error.text, "a dose with `handle` 0 and the step's number")
        }
        guard dose.handle == handle else { throw problem("a dose of \(dose.handle)", "one of handle 0") }
        return (dose.step, try RecordedSteps.Step(dose, of: "step \(dose.step)"))
    }

    /// The most that a part of a dose may be, U.
    package static let largestDose = PluginAnswers.largestDose
}
