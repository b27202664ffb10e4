// A bolus command that is never answered. Which one is not is the link's luck (`PumpFaultDraws`).

import IsletKernel

extension FaultKind {
    public static let uncertainDelivery = FaultKind(
        id: "uncertain-delivery",
        meaning: "a bolus command is never answered, and the pump is silent for a while",
        source: "assumed", rate: FaultRate(0.05, "share of failed boluses", 0...1),
        notice: .alerts(["ALERT-PUMP-SIGNAL-LOSS", "ALERT-PUMP-NO-ACTIVE-POD"], unless: .short), signs: [],
        sampling: FaultSampling(perDay: 0.5...16, medianMinutes: 4, spread: 1),
        effect: .pump(
            PumpEffect(begin: { pump, fault in
                let end = pump.executor.now.adding(fault.nanoseconds)
                pump.link.unansweredUntil = max(pump.link.unansweredUntil, end)
            })))
}
