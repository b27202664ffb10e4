/// The bytes that an algorithm remembers, with a copy to go back to when a step fails. Zeros before the first step.
final class AlgorithmState: @unchecked Sendable {
    let buffer: UnsafeMutableRawBufferPointer
    private let before: UnsafeMutableRawBufferPointer

    init(byteCount: Int) {
        buffer = .allocate(byteCount: byteCount, alignment: 16)
        before = .allocate(byteCount: byteCount, alignment: 16)
        clear()
    }

    deinit {
        buffer.deallocate()
        before.deallocate()
    }

    var bytes: [UInt8] { [UInt8](buffer) }

    func clear() { buffer.initializeMemory(as: UInt8.self, repeating: 0) }

    /// Takes bytes of the right number; says whether they are. None stand for zeros: no step has run.
    func restore(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == buffer.count else { return false }
        buffer.copyBytes(from: bytes)
        return true
    }

    func beginStep() { before.copyMemory(from: UnsafeRawBufferPointer(buffer)) }
    func undoStep() { buffer.copyMemory(from: UnsafeRawBufferPointer(before)) }
}
