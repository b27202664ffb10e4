// Which alerts a fault must end in.

package import Alerts
package import SimulatedDevices

extension FaultKind {
    /// An episode of one of these must overlap the fault, or something must explain why not. Empty where the kind is
    /// silent.
    package var alerts: [AlertCode] {
        switch self {
        case .compressionLow, .signalLoss, .commandFailure, .siteFailure, .missingPulses, .appRelaunch: []
        case .temporarySensorError: [.cgmUnavailable, .cgmFailedOrExpired]
        case .sensorFailure, .lateSensorChange: [.cgmFailedOrExpired]
        case .pumpOutage, .uncertainDelivery: [.pumpSignalLoss, .pumpNoActivePod]
        case .occlusion, .podFault: [.pumpFault]
        case .latePodChange: [.pumpExpired]
        case .appQuit: [.steppingInterrupted]
        }
    }
}
