// Numbers of somebody's own, on their way to the alerts that compare them.
//
// Guarantees: each goes to the rules that name it, here and in shadow; where none does, nothing is judged. What is answered at a step is of that step's instant: after 15 min
// without another one an alert of it ends, as one of a forecast does.

public import IsletDevices
import IsletKernel

extension AlertCenter {
    public nonisolated func loopDidHear(_ numbers: [OwnNumber]) { here(numbers) { $0.hear($1) } }

    private func hear(_ numbers: [OwnNumber]) {
        let now = executor.now
        for number in numbers {
            guard let metric = AlertMetric(ownNumber: number.name) else { continue }
            if shadowsOwnMetrics.contains(metric) {
                shadows?.here((metric, number.value)) { $0.hear($1.0, $1.1, sampledAt: $0.executor.now) }
            }
            guard prepared.ownMetrics.contains(metric) else { continue }
            if app.flow.hear(metric, number.value, sampledAt: now, at: now) || app.hasStore { judgeLater() }
        }
    }
}
