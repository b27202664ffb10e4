// Error numbers as output problems, and writing to a descriptor.

import Glibc
package import IsletDevices

extension OutputError {
    /// From an error number: no space, quota, memory, handles or an interruption are temporary, the rest is not.
    package init(path: String, doing action: String, errno code: Int32) {
        self.init(
            Self.kind(of: code), path: path, message: "cannot \(action): \(systemMessage(code))")
    }

    static func kind(of code: Int32) -> Kind {
        switch code {
        case ENOSPC, EDQUOT, EINTR, EAGAIN, EMFILE, ENFILE, ENOMEM, EBUSY, EIO, ETXTBSY, ESTALE, ENOLCK:
            .temporary
        default: .cannotCreate
        }
    }
}

/// The system's words for an error number.
func systemMessage(_ code: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    _ = strerror_r(code, &buffer, buffer.count)
    let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return bytes.isEmpty ? "error \(code)" : String(decoding: bytes, as: UTF8.self)
}

/// Writes all of `bytes` to a descriptor, going on after signals and short writes. Returns an error number or nil.
package func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32? {
    var rest = bytes
    while !rest.isEmpty {
        let written = write(descriptor, rest.baseAddress, rest.count)
        if written > 0 {
            rest = UnsafeRawBufferPointer(rebasing: rest[written...])
        } else if written == 0 {
            return EIO
        } else if errno == EAGAIN {
            // A non-blocking pipe or terminal that is full: wait until it drains.
            var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            if poll(&waiting, 1, -1) < 0, errno != EINTR { return errno }
        } else if errno != EINTR {
            return errno
        }
    }
    return nil
}
