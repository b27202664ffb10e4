// The key of seals, from a file that only its owner should have.

package import IsletDevices
import IsletFiles
import IsletKernel

package struct SealKey: Sendable {
    /// Fewer bytes could be guessed.
    private static let bytes = 16...65_536

    private let key: [UInt8]

    /// - Throws: `InputError` for a file that can't be read, or holds too little to be a secret.
    package init(file: String) throws(InputError) {
        key = try readInput(file, limitBytes: Self.bytes.upperBound)
        guard Self.bytes.contains(key.count), Set(key).count > 4 else {
            throw InputError(
                file: file, found: "\(key.count) bytes",
                expected:
                    "a secret key of \(Self.bytes.lowerBound) bytes or more, as `head -c 32 /dev/urandom > KEYFILE` makes one"
            )
        }
    }

    /// For tests.
    init(_ key: [UInt8]) { self.key = key }

    /// The next code of a chain: of the text, and of all that came before.
    package func chained(_ last: String, _ text: some StringProtocol) -> String {
        HMAC.code(of: Array("\(last)\n\(text)".utf8), key: key).description
    }
}
