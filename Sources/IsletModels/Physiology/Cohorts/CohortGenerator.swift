// Virtual cohorts drawn from published group statistics, closed to an exact steady state.
//
// Guarantees: subject k depends on the group and on the generator handed in for k only, never on how many
// subjects are drawn; every accepted subject meets `AdmissionRules.generated` and `ClinicalLimits.usual`; CR and CF are simulated.
// Does not: reproduce all correlations between parameters, which ten subjects a group can't tell.

import IsletDevices
import IsletNumerics
import IsletKernel

/// Draws subjects of a model that has a way to draw them.
public struct CohortGenerator: Sendable {
    /// Goes up whenever the same draws would give another subject. Part of a cohort's artefact.
    public static let version = 2

    /// Most rejections in a row; the true rate of acceptance is above 0.85 for the equations' sake, and between 0.2 and 0.7 for the clinic's.
    public static let maximumAttempts = 1000

    public let model: ModelKind
    public let group: AgeGroup

    public init(model: ModelKind = .uvaPadova2008, group: AgeGroup) {
        self.model = model
        self.group = group
    }

    /// Subject `index` (0-based; named from `#001`).
    ///
    /// - Parameter generator: the subject's own stream.
    /// - Throws: `CohortError`.
    public func subject(
        _ index: Int, using generator: inout some RandomNumberGenerator
    ) throws(CohortError) -> VirtualSubject {
        let number = String(index + 1)
        let name =
            "\(group.rawValue)#" + String(repeating: "0", count: max(0, 3 - number.utf8.count)) + number
        guard let type = model.parameters as? any GeneratedParameters.Type else { throw .noDraw(model) }
        for _ in 0..<Self.maximumAttempts {
            let parameters = ModelParameters(try type.drawn(name, of: group, using: &generator))
            let subject: VirtualSubject
            do {
                subject = try VirtualSubject(name: name, parameters: parameters)
            } catch {
                throw .run(error)
            }
            if ClinicalLimits.usual.admit(subject) { return subject }
        }
        throw .exhausted(name)
    }

    /// `count` subjects; `stream` gives each one its own generator.
    public func cohort<G: RandomNumberGenerator>(
        count: Int, stream: (Int) -> G
    ) throws(CohortError) -> [VirtualSubject] {
        var subjects: [VirtualSubject] = []
        for index in 0..<count {
            var generator = stream(index)
            subjects.append(try subject(index, using: &generator))
        }
        return subjects
    }

    /// S2008 parameters of one accepted draw, with a closed steady state.
    func parameters(
        _ name: String, using generator: inout some RandomNumberGenerator
    ) throws(CohortError) -> UVAPadova2008.Parameters {
        let distribution = CohortDistribution.of(group)
        for _ in 0..<Self.maximumAttempts {
            var p = UVAPadova2008.Parameters()
            var drawn = UVAPadova2008.Parameters()
            for (path, mu, sigma) in distribution.draws {
                var z = Normal.next(using: &generator)
                if let link = CohortDistribution.link(of: path) {
                    z =
                        link.weight * drawn[keyPath: link.from] + (1 - link.weight * link.weight).squareRoot()
                        * z
                }
                drawn[keyPath: path] = z
                p[keyPath: path] = exponential(mu + sigma * z)
            }
            distribution.linkClearance(&p, z: drawn.CL)
            p.kabs = min(p.kabs, 0.6)
            p.closeSteadyState()
            if AdmissionRules.generated.firstViolation(p) == nil { return p }
        }
        throw .exhausted(name)
    }

    /// The cohort as a table: all columns of the model's table, then `CR`, `CF` and `generator_version`.
    /// `ParameterTable` reads it back to the same bits.
    public static func csv(_ subjects: [VirtualSubject]) -> String {
        guard let kind = subjects.first?.parameters.kind else { return "" }
        let columns = kind.columns.map(\.name)
        var text = (["Name"] + columns + ["CR", "CF", "generator_version"]).joined(separator: ",") + "\n"
        for subject in subjects {
            let values = subject.parameters.values + [subject.carbohydrateRatio, subject.correctionFactor]
            text += subject.name + ","
            text += values.map { "\($0)" }.joined(separator: ",") + ",\(version)\n"
        }
        return text
    }
}

extension UVAPadova2008.Parameters: GeneratedParameters {
    public static func drawn(
        _ name: String, of group: AgeGroup, using generator: inout some RandomNumberGenerator
    ) throws(CohortError) -> Self {
        try CohortGenerator(group: group).parameters(name, using: &generator)
    }
}

/// Why a cohort could not be drawn.
public enum CohortError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No draw was accepted for this subject: the random numbers are not random.
    case exhausted(String)
    /// Nobody has said how people of this model differ.
    case noDraw(ModelKind)
    /// The therapy search of a subject failed.
    case run(ModelRunError)

    public var description: String {
        switch self {
        case .exhausted(let name):
            "no acceptable draw for \(name) in \(CohortGenerator.maximumAttempts) attempts"
        case .noDraw(let model): "people can't be drawn of the model \(model.id)"
        case .run(let error): error.description
        }
    }
}
