// What the dosing algorithm forecasts, on its way to the alerts that ask for it.
//
// Guarantees: where no rule asks, of this policy or of one in shadow, nothing is judged.

public import Devices
public import SessionTime
import SimulationKernel

extension AlertCenter {
    public nonisolated func loopDidForecast(_ glucose: GlucoseConcentration, from reading: Instant) {
        here((glucose.milligramsPerDecilitre, reading)) { $0.hear(forecast: $1.0, from: $1.1) }
    }

    private func hear(forecast mgdl: Double, from reading: Instant) {
        if watchesForecast.shadows {
            shadows?.here((mgdl, reading)) { $0.hear(.forecastGlucose, $1.0, sampledAt: $1.1) }
        }
        guard watchesForecast.own else { return }
        let needsSettling = app.hear(.forecastGlucose, mgdl, sampledAt: reading, at: executor.now)
        if needsSettling || app.hasStore { judgeLater() }
    }
}
