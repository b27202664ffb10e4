// As much of HTTP/1.1 as one small endpoint needs, read by hand.
//
// Guarantees: any bytes end in a request or in a refusal with its status; header and body are bounded; a length is a plain number, said once, and no other
// framing is taken, so that nobody can disagree about where a request ends.
// Does not: know chunks, kept connections, or encodings.

struct HTTPRequest: Hashable, Sendable {
    var method: String
    var path: String
    /// By lower-case name.
    var headers: [String: String]
    var body: [UInt8] = []
}

/// Why a request is not taken.
struct HTTPRefusal: Error, Hashable, Sendable {
    var status: Int
    var reason: String

    init(_ status: Int, _ reason: String) {
        self.status = status
        self.reason = reason
    }
}

/// Collects the bytes of one request.
struct HTTPReader {
    static let headerLimit = 16 << 10
    static let bodyLimit = 1 << 20
    private static let mostHeaders = 100

    private var bytes: [UInt8] = []
    private var head: (request: HTTPRequest, end: Int, length: Int)?
    private var searched = 0

    /// - Returns: the request, once it is whole.
    mutating func take(_ chunk: some Collection<UInt8>) throws(HTTPRefusal) -> HTTPRequest? {
        bytes += chunk
        if head == nil {
            guard let end = endOfHeader() else {
                guard bytes.count <= Self.headerLimit else {
                    throw HTTPRefusal(431, "a header of 16 KiB at most")
                }
                return nil
            }
            guard end <= Self.headerLimit else { throw HTTPRefusal(431, "a header of 16 KiB at most") }
            let request = try Self.parse(bytes[..<(end - 4)])
            head = (request, end, try Self.length(of: request))
        }
        guard let (parsed, end, length) = head, bytes.count >= end + length else { return nil }
        var request = parsed
        guard bytes.count == end + length else { throw HTTPRefusal(400, "nothing after the body") }
        request.body = Array(bytes[end...])
        return request
    }

    /// Past the empty line.
    private mutating func endOfHeader() -> Int? {
        var at = max(searched - 3, 0)
        while at + 3 < bytes.count {
            if bytes[at] == 13, bytes[at + 1] == 10, bytes[at + 2] == 13, bytes[at + 3] == 10 {
                return at + 4
            }
            at += 1
        }
        searched = bytes.count
        return nil
    }

    private static func parse(_ header: ArraySlice<UInt8>) throws(HTTPRefusal) -> HTTPRequest {
        guard header.allSatisfy({ (0x20...0x7e).contains($0) || $0 == 9 || $0 == 13 || $0 == 10 }),
            let text = String(validating: header, as: UTF8.self)
        else { throw HTTPRefusal(400, "a header of visible characters") }
        var lines: [String] = []
        var line = ""
        var wasReturn = false
        for scalar in text.unicodeScalars {
            if scalar == "\n" {
                guard wasReturn else { throw HTTPRefusal(400, "lines that end in CR LF") }
                lines.append(line)
                line = ""
                wasReturn = false
                continue
            }
            guard !wasReturn else { throw HTTPRefusal(400, "lines that end in CR LF") }
            if scalar == "\r" { wasReturn = true } else { line.unicodeScalars.append(scalar) }
        }
        lines.append(line)
        guard lines.count <= mostHeaders + 1 else { throw HTTPRefusal(431, "100 headers at most") }
        let words = lines[0].split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 3, !words[0].isEmpty, words[0].allSatisfy({ $0.isASCII && $0.isUppercase }),
            words[1].hasPrefix("/"), words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0"
        else { throw HTTPRefusal(400, "a line such as POST /path HTTP/1.1") }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex,
                line[..<colon].allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" })
            else { throw HTTPRefusal(400, "headers such as Host: 127.0.0.1") }
            let name = line[..<colon].lowercased()
            var value = line[line.index(after: colon)...]
            while value.first == " " || value.first == "\t" { value = value.dropFirst() }
            while value.last == " " || value.last == "\t" { value = value.dropLast() }
            guard headers[name] == nil else { throw HTTPRefusal(400, "each header once") }
            headers[name] = String(value)
        }
        return HTTPRequest(method: words[0], path: words[1], headers: headers)
    }

    private static func length(of request: HTTPRequest) throws(HTTPRefusal) -> Int {
        guard request.headers["transfer-encoding"] == nil else {
            throw HTTPRefusal(501, "a body with a Content-Length")
        }
        guard let text = request.headers["content-length"] else {
            if request.method == "POST" { throw HTTPRefusal(411, "a Content-Length") }
            return 0
        }
        guard !text.isEmpty, text.utf8.count <= 9, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let length = Int(text)
        else { throw HTTPRefusal(text.utf8.count > 9 ? 413 : 400, "a Content-Length in digits, up to 1 MiB") }
        guard length <= bodyLimit else { throw HTTPRefusal(413, "a body of 1 MiB at most") }
        return length
    }
}

enum HTTPText {
    static func answer(_ status: Int, json: String) -> [UInt8] {
        let names = [
            200: "OK", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
            405: "Method Not Allowed", 408: "Request Timeout", 411: "Length Required",
            413: "Content Too Large", 421: "Misdirected Request", 431: "Request Header Fields Too Large",
            500: "Internal Server Error", 501: "Not Implemented", 503: "Service Unavailable",
        ]
        return Array(
            """
            HTTP/1.1 \(status) \(names[status] ?? "Status")\r
            Content-Type: application/json\r
            Content-Length: \(json.utf8.count)\r
            Cache-Control: no-store\r
            X-Content-Type-Options: nosniff\r
            Connection: close\r
            \r
            \(json)
            """.utf8)
    }
}
