// A model driven by inputs of each minute, without sensor or pump.
//
// Guarantees: glucose at every minute from 0 to the last, at least 9 significant digits in text; the same
// inputs give the same text. Does not: stop where a person would be dead; the equations run on.

public import IsletDevices
public import IsletNumerics

/// Glucose by the minute.
public struct TraceRun: Hashable, Sendable {
    public struct Row: Hashable, Sendable {
        public var minute: Int
        public var plasma: GlucoseConcentration
        public var interstitial: GlucoseConcentration
    }

    public var rows: [Row]

    /// Runs `model` from the state it is in through `inputs`.
    ///
    /// - Parameter subject: for the error only.
    /// - Throws: `ModelRunError`.
    public init(
        _ model: any GlucoseModel, subject: String, inputs: TraceInputs
    ) throws(ModelRunError) {
        var rows: [Row] = []
        rows.reserveCapacity(inputs.minutes + 1)
        func note(_ minute: Int) {
            rows.append(
                Row(minute: minute, plasma: model.plasmaGlucose, interstitial: model.interstitialGlucose))
        }
        var next = 0
        for minute in 0..<inputs.minutes {
            note(minute)
            var carbs = 0.0
            var insulin = 0.0
            if inputs.rows[next].minute == minute {
                carbs = inputs.rows[next].carbsGrams
                insulin = inputs.rows[next].insulinUnits
                next += 1
            }
            model.setInsulinRate(InsulinRate(unitsPerMinute: insulin))
            model.eatDuringNextMinute(Carbohydrate(grams: carbs))
            do {
                try model.advance(byMinutes: 1)
            } catch {
                throw ModelRunError(
                    kind: model.kind, subject: subject, minute: Double(minute) + error.time,
                    cause: error)
            }
        }
        note(inputs.minutes)
        self.rows = rows
    }

    /// `minute,plasma_mgdl,interstitial_mgdl` and a line for each row.
    public var csv: String {
        var text = "minute,plasma_mgdl,interstitial_mgdl\n"
        text.reserveCapacity(rows.count * 40)
        for row in rows {
            text += "\(row.minute),"
            appendFixed(row.plasma.milligramsPerDecilitre, to: &text)
            text += ","
            appendFixed(row.interstitial.milligramsPerDecilitre, to: &text)
            text += "\n"
        }
        return text
    }
}

/// An integration that failed, with the subject, the instant and the state that it failed in.
public struct ModelRunError: Error, Hashable, Sendable, CustomStringConvertible {
    public var kind: ModelKind
    public var subject: String
    /// Minutes since the run's start.
    public var minute: Double
    public var cause: ODEError

    public init(kind: ModelKind, subject: String, minute: Double, cause: ODEError) {
        self.kind = kind
        self.subject = subject
        self.minute = minute
        self.cause = cause
    }

    public var description: String {
        var state = ""
        if case .nonFinite(let index) = cause.cause {
            let states = kind.states
            if states.indices.contains(index) { state = " (\(states[index].symbol))" }
        }
        return "\(kind.id), subject \(subject), minute \(minute): \(cause)\(state)"
    }
}

/// Twelve decimals without a formatter: 9 significant digits down to 0.001.
private func appendFixed(_ value: Double, to text: inout String) {
    guard value.magnitude < 1e6 else {
        text += "\(value)"
        return
    }
    let scaled = Int((value.magnitude * 1e12).rounded())
    let (whole, fraction) = scaled.quotientAndRemainder(dividingBy: 1_000_000_000_000)
    if value < 0 { text += "-" }
    text += "\(whole)."
    let digits = String(fraction)
    text += String(repeating: "0", count: 12 - digits.utf8.count)
    text += digits
}
