// Subjects to test with, made here: no row of anybody's table.

import IsletDevices
import IsletNumerics

@testable import IsletModels

/// splitmix64: a stream for tests.
struct TestStream: RandomNumberGenerator {
    var state: UInt64

    init(_ seed: Int) { state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678 }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

func generatedParameters(_ group: AgeGroup, _ index: Int) throws -> UVAPadova2008.Parameters {
    var stream = TestStream(1000 * (index + 1))
    return try CohortGenerator(group: group).parameters("test", using: &stream)
}

/// One subject of every kind of model.
func subjectsOfEveryModel() throws -> [ModelParameters] {
    var subjects: [ModelParameters] = []
    for group in AgeGroup.allCases {
        subjects.append(ModelParameters(try generatedParameters(group, 0)))
    }
    subjects.append(ModelParameters(Hovorka2004Parameters()))
    subjects.append(ModelParameters(HovorkaWilinskaParameters()))
    subjects.append(ModelParameters(MedtronicVirtualPatientParameters()))
    subjects.append(ModelParameters(OneDepot()))
    return subjects
}

extension GlucoseModel {
    var plasma: Double { plasmaGlucose.milligramsPerDecilitre }
    var stateValues: [Double] {
        Array(snapshot.prefix(kind.states.count))
    }
}
