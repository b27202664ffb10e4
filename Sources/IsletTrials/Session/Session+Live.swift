// What reaches a session from outside while it runs, beside what its study holds.
//
// Guarantees: called on the session's thread, at an input's instant. A session to which nobody says anything is the study's, to the digest.
// Does not: validate. `Live` does, before anything is told.

package import IsletAlerts
package import IsletDevices
import IsletLoop
import IsletPeople
import IsletKernel
import IsletModels

extension Session {
    /// False while the app is dead: what is said to it then is lost.
    package var isAppAlive: Bool { phoneAdapter.isAppAlive }
    /// Opens a dead app.
    package func reopenApp() { phoneAdapter.reopenApp() }

    /// The person eats now what no scenario planned.
    package func eat(_ carbohydrate: Carbohydrate) throws {
        try person.here(carbohydrate) { try $0.eatNow($1) }
        meals.append(
            Meal(
                instantNanoseconds: executor.now.nanoseconds, grams: carbohydrate.grams, kind: .snack))
    }

    /// Insulin that came from no pump: it counts as insulin of the person's.
    package func gave(byHand amount: InsulinAmount) { givenByHand += amount.units }

    /// A reading from outside, where `SessionSeams.isFed`.
    package func feed(_ reading: GlucoseReading) { sensor.here(reading) { $0.feed($1) } }

    /// Alerts go on under another policy, whose rules begin with those of the one before.
    package func follow(_ policy: AlertPolicy) {
        let prepared = PreparedPolicy(policy)
        if isAppAlive {
            alerts.here(prepared) { $0.follow($1) }
        } else {
            alerts.here(prepared) { $0.followAtLaunch($1) }
        }
        self.policy = policy
    }

    /// The algorithm that `SessionSeams` put there has become another one.
    package func algorithmDidChange() { executor.inspect { [loop] in loop.here { $0.algorithmDidChange() } } }
}
