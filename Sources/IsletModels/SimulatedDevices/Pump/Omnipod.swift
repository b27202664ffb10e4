// The Omnipod.

import IsletDevices
import IsletKernel

extension PumpDevice {
    /// Omnipod: OmniBLE's protocol constants; largest bolus after the user guide.
    public static let omnipod = PumpDevice(
        id: "omnipod", summary: "patch pump, 0.05 U pulses, 200 U reservoir, 80 h",
        source: "OmniBLE's protocol constants; largest bolus after the user guide",
        name: "Omnipod", pulse: InsulinAmount(units: 0.05), bolusPulseInterval: 2 * Nanoseconds.second,
        reservoir: InsulinAmount(units: 200), largestBolus: InsulinAmount(units: 30),
        largestBasal: InsulinRate(unitsPerHour: 30), basalStep: InsulinRate(unitsPerHour: 0.05),
        podLife: 72 * Nanoseconds.hour)
}
