// Lists of names as the shapes of values: each list stands where its things are (`SensorModel`, `PumpDevice`, ...).

package import IsletDevices

extension Listed {
    /// One of these, by name.
    package static var shape: Shape { shape(of: all) }

    /// One of some of these, by name. `noun` says what they are.
    package static func shape(of some: [Self], noun: String = noun) -> Shape {
        .choice(noun: noun, some.map { Shape.Choice($0.id, $0.summary) })
    }
}

extension Codec where Value: Listed {
    /// One of these, by name. `noun` says what they are.
    package static func name(of some: [Value] = Value.all, noun: String = Value.noun) -> Codec {
        let shape = Value.shape(of: some, noun: noun)
        return Codec(shape) { reader throws(InputError) in
            let id = try reader.text()
            guard let value = some.first(where: { $0.id == id }) else {
                throw reader.problem(expected: shape.expectation)
            }
            return value
        } encode: {
            .string($0.id)
        }
    }
}
