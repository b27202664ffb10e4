// A fork's change as a page says it: a preset's name or a policy's text, an algorithm's name.

import IsletFiles
import IsletAlerts
import IsletLoop
package import IsletDevices
import IsletTrials

extension LiveFork.Change {
    /// - Parameters:
    ///   - policy: a preset's name, or a policy file's text; it names no file of this machine.
    ///   - algorithm: an algorithm's name, with its default parameters; or a mapping as in a study.
    /// - Throws: `InputError`: what isn't known.
    package init(policy: String?, algorithm: String?) throws(InputError) {
        self.init()
        if let policy, !policy.isEmpty {
            if let preset = AlertPreset(rawValue: policy) {
                self.policy = try preset.policy()
            } else {
                self.policy = try AlertPolicy.parse(policy, file: YAMLNode.Origin.textPrefix + "policy")
            }
        }
        if let algorithm, !algorithm.isEmpty {
            let node = try YAMLDocument.parse(algorithm, file: YAMLNode.Origin.textPrefix + "algorithm")
            self.algorithm = try TunedAlgorithm.codec.decode(YAMLReader(node))
        }
    }
}
