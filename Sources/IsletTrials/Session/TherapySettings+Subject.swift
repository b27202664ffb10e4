// A subject's therapy.

import IsletDevices
import IsletModels

extension TherapySettings {
    /// What a clinic would have found for the subject.
    init(_ subject: VirtualSubject) {
        self.init(
            bodyWeightKilograms: subject.bodyWeight, basalRate: subject.basalRate,
            carbohydrateRatioGramsPerUnit: subject.carbohydrateRatio,
            correctionFactorMgdlPerUnit: subject.correctionFactor,
            totalDailyInsulin: subject.totalDailyInsulin)
    }
}
