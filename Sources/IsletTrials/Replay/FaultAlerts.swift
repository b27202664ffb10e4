// Which alerts a fault must end in: its row's codes, as the catalogue has them.

package import IsletAlerts
package import IsletModels

extension FaultKind {
    /// An episode of one of these must overlap the fault, or something explains it; none where the kind is silent.
    package var alerts: [AlertCode] {
        guard case .alerts(let codes, _) = notice else { return [] }
        return codes.compactMap(AlertCode.init(rawValue:))
    }
}
