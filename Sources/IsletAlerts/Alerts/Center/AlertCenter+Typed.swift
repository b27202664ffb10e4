// A finger-stick that a person typed in, and that says low.
//
// Guarantees: it rings whatever the sensor says, until `TypedLow` says that it is over; what the sensor measures has alerts of its own.

public import IsletDevices
import IsletKernel

extension AlertCenter {
    /// The person typed a value in.
    public func hear(typed glucose: GlucoseConcentration) {
        typedLow = .after(typedLow, typed: glucose, at: executor.now)
        tellTypedLow()
    }

    /// A reliable reading that is news.
    func followTypedLow(_ mgdl: Double, takenAt instant: Instant) {
        guard let low = typedLow, low.isEnded(by: mgdl, takenAt: instant) else { return }
        typedLow = nil
        tellTypedLow()
    }

    private func tellTypedLow() {
        let isLow = typedLow != nil
        if app.flow.environment.isLowTyped != isLow { change { $0.isLowTyped = isLow } }
    }
}
