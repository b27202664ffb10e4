// Lists of names as the shapes of values: each list stands where its things are (`SensorModel`, `PumpDevice`, ...).

package import Devices

extension Listed {
    /// One of these, by name.
    package static var shape: Shape { shape(of: all) }

    /// One of some of these, by name. `noun` says what they are.
    package static func shape(of some: [Self], noun: String = noun) -> Shape {
        .choice(noun: noun, some.map { Shape.Choice($0.id, $0.summary) })
    }
}
