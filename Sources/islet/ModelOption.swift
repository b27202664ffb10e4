// A model's name on the command line.

public import ArgumentParser
public import Physiology

extension ModelKind: ExpressibleByArgument {}

extension DerivedColumns: ExpressibleByArgument {}
