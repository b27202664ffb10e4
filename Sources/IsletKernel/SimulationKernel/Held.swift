// What an actor keeps and calls at every step, without counting references.
//
// Guarantees: nothing by itself. Who calls `Unmanaged<Held<...>>` or an unretained `Wakeup` keeps a counted reference beside it, and doesn't let
// go of that within the call.
// Does not: own. A count is an atomic operation; a step of a session would make a dozen for what it owns anyway.

extension Unmanaged<Wakeup> {
    /// As the wake-up's own.
    @inlinable @inline(__always)
    public func schedule(at instant: Instant?) {
        _withUnsafeGuaranteedRef { $0.schedule(at: instant) }
    }
}

/// A box around what is kept: a reference in a constant of an object that lives is not counted when it is called.
public final class Held<Value> {
    public let value: Value

    @inlinable public init(_ value: Value) { self.value = value }
}

extension Unmanaged {
    /// To what somebody else keeps; nil for nil.
    @inlinable public static func unretained(_ object: Instance?) -> Unmanaged<Instance>? {
        guard let object else { return nil }
        return .passUnretained(object)
    }

    /// Calls what is held. A closure that goes straight to the standard library asks the runtime where it runs, at every call; this one
    /// doesn't.
    @inlinable @inline(__always)
    public func call<Value, Argument>(_ argument: Argument, _ body: (Value, Argument) -> Void)
    where Instance == Held<Value> {
        _withUnsafeGuaranteedRef { body($0.value, argument) }
    }
}
