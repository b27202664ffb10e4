// What a person has told the loop, as it stands: for whoever shows it.

public import IsletDevices
import IsletKernel

/// What the loop goes by at an instant.
public struct LoopSettingsInForce: Hashable, Sendable {
    /// Whom the session is about; nil where nobody said.
    public var subject: LoopSubject?
    /// Whom the next session will be about.
    public var chosenSubject: LoopSubject?
    /// What the next step aims at.
    public var target: GlucoseConcentration
    /// 1 without a temporary basal.
    public var basalMultiplier: Double
    public var therapy: TherapySettings
}

extension LoopController {
    public var settingsInForce: LoopSettingsInForce {
        let isOver = memory.temporaryTargetEnds.map { $0 <= executor.now } ?? false
        return LoopSettingsInForce(
            subject: memory.subject, chosenSubject: memory.chosenSubject,
            target: (isOver ? nil : memory.temporaryTarget) ?? memory.target ?? settings.target,
            basalMultiplier: memory.basalMultiplier, therapy: settings.therapy)
    }
}
