// What a linked pump is told, and what it answers: plain values, as journals and drivers have them.
//
// Guarantees: a command has a number of its own, higher than that of any command before it; a report says which command it answers.
// Does not: promise that a report is true. `LinkedPump` looks at each one before it believes it.

public import IsletDevices

/// One command to a pump outside of the session.
public struct LinkCommand: Hashable, Sendable, Codable {
    public enum Act: Hashable, Sendable, Codable {
        /// Under an id that no other bolus of this pump ever has; the same id again is the same bolus.
        case bolus(id: Int64, units: Double)
        case programmedBasal(unitsPerHour: Double)
        /// In place of the programmed one, from now on for so long.
        case temporaryBasal(unitsPerHour: Double, seconds: Double)
        case cancelTemporaryBasal
        case cancelBolus
        /// The pump reminds the person after so long, where that is said.
        case suspend(seconds: Double?)
        case resume
        case readStatus
        /// As `readStatus`, with what the pump has given in the hours before: asked once, by an app that has not met it.
        case readAccount
        /// The pump is this app's from now on, whoever's it was: a person has said so.
        case takeOver

        /// Nothing of the pump changes.
        var isRead: Bool { self == .readStatus || self == .readAccount }
    }

    /// A pump takes no command with a number below one that it has answered, but status reads.
    public var number: Int64
    public var act: Act
    /// Which app speaks: a pump takes commands of one, and a reinstalled app knows its own by it. Nil for an app of before there were owners.
    public var owner: String?

    public init(number: Int64, act: Act, owner: String? = nil) {
        self.number = number
        self.act = act
        self.owner = owner
    }
}

/// By the name that drivers use.
extension PumpIssue: Codable {}

/// What a pump answers to one command.
public struct PumpReport: Hashable, Sendable, Codable {
    public enum Condition: String, Sendable, Codable, CaseIterable {
        case ready, bolusing, suspended, noPod, fault
    }

    /// The newest bolus that the pump has taken.
    public struct Bolus: Hashable, Sendable, Codable {
        public var id: Int64
        /// What it took of the request.
        public var units: Double
        /// What it has given of it so far.
        public var deliveredUnits: Double
        public var isRunning: Bool
        /// Since it began; nil where the pump can't say.
        public var secondsAgo: Double?
        /// Until it is over; 0 for one that is.
        public var secondsLeft: Double
        /// Somebody cancelled it, where it is over before its time; else the pod ended it.
        public var wasCancelled: Bool

        public init(
            id: Int64, units: Double, deliveredUnits: Double, isRunning: Bool, secondsLeft: Double = 0,
            wasCancelled: Bool = false
        ) {
            self.id = id
            self.units = units
            self.deliveredUnits = deliveredUnits
            self.isRunning = isRunning
            self.secondsLeft = secondsLeft
            self.wasCancelled = wasCancelled
        }
    }

    /// What a pump gave in the hours before.
    public struct Account: Hashable, Sendable, Codable {
        public struct Given: Hashable, Sendable, Codable {
            public var units: Double
            public var secondsAgo: Double

            public init(units: Double, secondsAgo: Double) {
                self.units = units
                self.secondsAgo = secondsAgo
            }
        }

        /// How far back it is complete.
        public var secondsKnown: Double
        public var boluses: [Given]
        /// What the pump gave by itself meanwhile.
        public var basalUnits: Double

        public init(secondsKnown: Double, boluses: [Given], basalUnits: Double) {
            self.secondsKnown = secondsKnown
            self.boluses = boluses
            self.basalUnits = basalUnits
        }
    }

    /// The command that this answers.
    public var number: Int64
    /// Why the command was not carried out; nil where it was.
    public var refusal: String?
    /// Which pump speaks: another pump, or one that has lost its memory, has another name.
    public var device: String
    /// By the pump's clock, since 1970.
    public var utcNanoseconds: Int64
    /// The highest number that it has answered, this one included.
    public var highestNumber: Int64
    public var condition: Condition
    public var reservoirUnits: Double
    public var isReservoirExact: Bool
    /// What it has given by itself in its life: programmed and temporary basal.
    public var basalUnits: Double
    /// nil where the pump can't say: then what it was told and did not refuse counts.
    public var programmedUnitsPerHour: Double?
    /// nil without a temporary basal.
    public var temporaryUnitsPerHour: Double?
    public var temporarySecondsLeft: Double
    public var bolus: Bolus?
    /// What is open at the pump: its own alerts.
    public var issues: [PumpIssue] = []
    /// Until the pod in use expires, before its hours of service; nil where the pump has no pod or can't say.
    public var podSecondsLeft: Double?
    /// Whose commands it takes; nil for a pump that takes anybody's.
    public var owner: String?
    /// In the answer to `readAccount`, of a pump that knows.
    public var account: Account?

    public init(
        number: Int64, device: String, utcNanoseconds: Int64, condition: Condition, reservoirUnits: Double,
        basalUnits: Double
    ) {
        self.number = number
        self.device = device
        self.utcNanoseconds = utcNanoseconds
        highestNumber = number
        self.condition = condition
        self.reservoirUnits = reservoirUnits
        isReservoirExact = true
        self.basalUnits = basalUnits
        temporarySecondsLeft = 0
    }
}
