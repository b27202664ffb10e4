// Parts of a pulse that a temporary basal rate discards: a trait that the pump's basal asks for.
//
// Published of temporary basal rates alone (Tidepool); the zero rate of closed loop has no part of a pulse to lose.

extension FaultKind {
    public static let missingPulses = FaultKind(
        id: "missing-pulses", meaning: "a temporary basal rate discards the part of a pulse before it",
        source: "Tidepool, of temporary basal rates", rate: FaultRate(1, nil, 0...1),
        notice: .nothing("strikes temporary basal rates alone: refused in closed loop"), signs: [],
        strikesClosedLoop: false, sampling: nil,
        effect: .pump(PumpEffect()))
}
