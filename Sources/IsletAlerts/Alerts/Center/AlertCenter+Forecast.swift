// What the dosing algorithm forecasts, on its way to the alerts that ask for it.
//
// Guarantees: where no rule asks, of this policy or of one in shadow, nothing is judged.

import IsletDevices
import IsletKernel

extension AlertCenter {
    func hear(_ forecast: LoopForecast) {
        let mgdl = forecast.glucose.milligramsPerDecilitre
        if watchesForecast.shadows {
            shadows?.here((mgdl, forecast.reading)) { $0.hear(.forecastGlucose, $1.0, sampledAt: $1.1) }
        }
        guard watchesForecast.own else { return }
        let needsSettling = app.flow.hear(
            .forecastGlucose, mgdl, sampledAt: forecast.reading, at: executor.now)
        if needsSettling || app.hasStore { judgeLater() }
    }
}
