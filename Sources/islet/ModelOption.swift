// A model's name on the command line.

public import ArgumentParser
import IsletDevices
public import IsletModels

extension ModelKind: ExpressibleByArgument {
    public init?(argument: String) {
        guard let model = ModelKind.named(argument) else { return nil }
        self = model
    }

    public static var allValueStrings: [String] { all.map(\.id) }
    public var defaultValueDescription: String { id }
}

extension DerivedColumns: ExpressibleByArgument {}
