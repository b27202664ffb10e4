// What a reader meets who may not write.

import Glibc
import Testing

/// The body may read a folder, and write nothing in it. Permissions don't bind root, who is nobody to files meanwhile, on this thread alone.
func asNobody<R>(seeing folder: String, _ body: () throws -> R) throws -> R {
    chmod(folder, 0o555)
    defer { chmod(folder, 0o755) }
    guard geteuid() == 0 else { return try body() }
    let symbol = try #require(dlsym(nil, "setfsuid"))
    let setUser = unsafeBitCast(symbol, to: (@convention(c) (uid_t) -> CInt).self)
    _ = setUser(65_534)
    defer { _ = setUser(0) }
    return try body()
}
