// No pump at all: suggestions only.
//
// Guarantees: nothing is ever delivered, whoever asks. The loop records what it would have given, and what a person asks for by hand lapses.

public import IsletDevices

public final class AbsentPump: InsulinPumpControls {
    public let pulse: InsulinAmount
    public let limits: PumpLimits

    public init(pulse: InsulinAmount, limits: PumpLimits) {
        self.pulse = pulse
        self.limits = limits
    }

    public var status: PumpStatus { PumpStatus(condition: .noPod, isConnected: false, reservoir: .zero) }
    public var isReady: Bool { false }
    public var basalDelivered: InsulinAmount? { nil }
    public func completedBolus(after id: Int64?) throws -> BolusStatus? { nil }
    public func requestBolus(_ amount: InsulinAmount, id: Int64) throws -> BolusAnswer {
        throw PumpError.notConnected
    }
    public func outcome(of id: Int64) throws -> RequestOutcome { .neverArrived }
    public func setProgrammedBasal(_ rate: InsulinRate) throws {}
    public func setTemporaryBasal(_ rate: InsulinRate, nanoseconds: Int64) throws {
        throw PumpError.notConnected
    }
    public func cancelTemporaryBasal() throws {}
    public func suspend(nanoseconds: Int64?) throws { throw PumpError.notConnected }
    public func resume() throws { throw PumpError.notConnected }
    public func cancelBolus() throws -> BolusStatus? { throw PumpError.notConnected }
    public func acknowledge(_ issue: PumpIssue) throws {}
}
