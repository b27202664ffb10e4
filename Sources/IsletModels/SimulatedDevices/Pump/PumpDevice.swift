// Makes of pumps and the habits of those who wear them, as data.

public import IsletDevices
import IsletKernel

/// What a make of pump does: a row, written in the file of its make.
public struct PumpDevice: Listed {
    public static let noun = "a pump"
    /// The pumps that a study can name.
    public static let all: [PumpDevice] = [.omnipod]

    public let id: String
    public let summary: String
    /// Where its figures come from.
    public let source: String
    public var name: String
    public var pulse: InsulinAmount
    /// Nanoseconds from one bolus pulse to the next.
    public var bolusPulseInterval: Int64
    public var reservoir: InsulinAmount
    public var largestBolus: InsulinAmount
    public var largestBasal: InsulinRate
    /// Basal rates are multiples of this.
    public var basalStep: InsulinRate
    /// From one pod to the next.
    public var podLife: Int64
    /// How long a pod goes on after that.
    public var podService = 8 * Nanoseconds.hour
    /// The reminder before the end of the pod's life.
    public var userReminder = 2 * Nanoseconds.hour
    /// The alert before the end of its service.
    public var endOfServiceWarning = Nanoseconds.hour
    /// The reservoir is known exactly up to here, and reported as this above.
    public var reservoirIsExactUpTo = InsulinAmount(units: 50)
    public var lowReservoir = InsulinAmount(units: 10)
    public var primeAmount = InsulinAmount(units: 2.6)
    public var cannulaAmount = InsulinAmount(units: 0.5)
    /// Nanoseconds from one pulse of priming to the next.
    public var primePulseInterval = Nanoseconds.second
    public var temporaryBasalRange = 30 * Nanoseconds.minute...12 * Nanoseconds.hour
    /// U that a blocked cannula holds back before the pump may notice.
    public var occlusionThreshold = 2.5...5.0
    /// From there to the alarm. Together they give, from 0.05 to 1.7 U/h and after a bolus of 5 U, times that reach from the
    /// guides' typical ones or below up to their longest. (3 to 5 U "missed" count what is missed meanwhile; the typical
    /// 51 h at 0.05 U/h are 2.55 U.)
    public var occlusionConfirmation = 30 * Nanoseconds.minute

    public init(
        id: String, summary: String, source: String, name: String, pulse: InsulinAmount,
        bolusPulseInterval: Int64, reservoir: InsulinAmount,
        largestBolus: InsulinAmount, largestBasal: InsulinRate, basalStep: InsulinRate, podLife: Int64
    ) {
        self.id = id
        self.summary = summary
        self.source = source
        self.name = name
        self.pulse = pulse
        self.bolusPulseInterval = bolusPulseInterval
        self.reservoir = reservoir
        self.largestBolus = largestBolus
        self.largestBasal = largestBasal
        self.basalStep = basalStep
        self.podLife = podLife
    }

    public var limits: PumpLimits {
        PumpLimits(
            largestBolus: largestBolus, largestBasal: largestBasal, temporaryBasalRange: temporaryBasalRange)
    }

    /// Whole pulses in an amount. A request for three pulses that arithmetic left a hair short is three pulses.
    func pulses(in amount: InsulinAmount) -> Int64 {
        let count = amount.units / pulse.units + 1e-6
        return count.isFinite && count > 0 ? Int64(min(count, 1e9)) : 0
    }

    func amount(_ pulses: Int64) -> InsulinAmount { InsulinAmount(units: Double(pulses) * pulse.units) }

    /// A rate that the pump can do.
    func rounded(_ rate: InsulinRate) throws(PumpError) -> InsulinRate {
        let steps = (rate.unitsPerHour / basalStep.unitsPerHour).rounded()
        // In steps: 6 × 0.05 is more than 0.3.
        let most = (largestBasal.unitsPerHour / basalStep.unitsPerHour).rounded()
        guard rate.unitsPerHour >= 0, steps <= most else {
            throw .outOfRange(
                InsulinAmount(units: rate.unitsPerHour),
                limit: InsulinAmount(units: largestBasal.unitsPerHour))
        }
        return min(InsulinRate(unitsPerHour: steps * basalStep.unitsPerHour), largestBasal)
    }
}

/// How pods are changed.
public struct PodHabits: Hashable, Sendable {
    /// The next pod is in place the instant that the old one is over or can't cover what is asked of it.
    public var isSeamless: Bool
    /// From an alarm, a fault or an empty pod to the next pod (assumed).
    public var reaction = 20 * Nanoseconds.minute
    /// Mean lateness at the end of the pod's life, and of the reaction; 0 for a punctual person.
    public var meanLateness: Int64 = 0
    /// Share of the changes of a person who can be late in which the setup is left unfinished for a while (assumed).
    public var pauseShare = 0.05
    public var pause = 20 * Nanoseconds.minute

    public init(isSeamless: Bool) { self.isSeamless = isSeamless }

    public static let seamless = PodHabits(isSeamless: true)
    public static let manual = PodHabits(isSeamless: false)
}
