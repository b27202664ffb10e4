// A study whose glucose comes from outside.
//
// Guarantees: nothing is in it that would be made up: no meals, no failing devices, nobody who acts by chance.

package import IsletFiles
package import IsletTrials

extension Study {
    /// The therapy, algorithms and alerts of this study about somebody else's glucose, from `start` on. The study's own body lives on its programmed
    /// basal, fasts, and shows nobody its glucose.
    package func fed(from start: StudyStart) -> Study {
        var study = self
        study.start = start
        study.scenario.meals = .none
        study.scenario.life = nil
        study.faults = .none
        study.person = .nobody
        for index in study.arms.indices { study.arms[index].person = nil }
        return study
    }
}
