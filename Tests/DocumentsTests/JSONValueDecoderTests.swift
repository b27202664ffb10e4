import Foundation
import IsletFiles
import Testing

/// What is Decodable out of a JSON value, beside Foundation's own decoder.
@Suite struct JSONValueDecoderTests {
    private enum Act: Codable, Hashable {
        case bolus(id: Int64, units: Double)
        case suspend(seconds: Double?)
        case resume
    }

    private struct Part: Codable, Hashable {
        var flag: Bool?
        var share: Float
    }

    private struct Whole: Codable, Hashable {
        var small: Int8
        var large: UInt64
        var number: Double
        var text: String
        var acts: [Act]
        var numbers: [Double]
        var counts: [Int16]
        var lists: [[Bool?]]
        var parts: [String: Part]
        var none: Part?
    }

    private static let whole = Whole(
        small: -128, large: .max, number: 5, text: "a \"quoted\" \\ ä 💉\n",
        acts: [.bolus(id: .min, units: 0.05), .suspend(seconds: nil), .suspend(seconds: 1e-9), .resume],
        numbers: [0, -0.1, 1e300, 1 / 3], counts: [1, -2], lists: [[true, nil], []],
        parts: ["a": Part(flag: nil, share: 0.1), "b": Part(flag: false, share: 3)], none: nil)

    private static func mine<Value: Decodable>(_ json: String, _ type: Value.Type) -> Value? {
        try? JSONValue.read(Array(json.utf8), file: "test").decoded(as: type)
    }

    private static func foundations<Value: Decodable>(_ json: String, _ type: Value.Type) -> Value? {
        try? JSONDecoder().decode(type, from: Data(json.utf8))
    }

    @Test func whatWasEncodedIsRead() throws {
        let json = String(decoding: try JSONEncoder().encode(Self.whole), as: UTF8.self)
        #expect(Self.mine(json, Whole.self) == Self.whole)
        #expect(Self.foundations(json, Whole.self) == Self.whole)
    }

    @Test(
        arguments: [
            #"{"bolus":{"id":1,"units":2}}"#, #"{"bolus":{"id":1.0,"units":2.5}}"#, #"{"bolus":{"units":2}}"#,
            #"{"bolus":{"id":1.5,"units":2}}"#, #"{"bolus":{"id":"1","units":2}}"#,
            #"{"bolus":{"id":true,"units":2}}"#,
            #"{"bolus":{"id":9223372036854775808,"units":2}}"#, #"{"bolus":{"id":1,"units":null}}"#,
            #"{"suspend":{}}"#, #"{"suspend":{"seconds":null}}"#, #"{"suspend":{"seconds":"3"}}"#,
            #"{"resume":{}}"#, #"{"resume":null}"#, #"{"resume":{},"suspend":{}}"#, #"{"start":{}}"#, "{}",
            "[]", "null",
            #"{"resume":{"more":1}}"#,
        ])
    func aValueIsReadOrRefusedAsFoundationDoes(json: String) {
        #expect(Self.mine(json, Act.self) == Self.foundations(json, Act.self), "\(json)")
    }

    @Test(arguments: [
        "[1,2,127]", "[128]", "[1,null]", "[1,\"2\"]", "[-129]", "[1.0]", "[0.5]", "[]", "{}", "7",
    ])
    func numbersOfABoundedType(json: String) {
        #expect(Self.mine(json, [Int8].self) == Self.foundations(json, [Int8].self), "\(json)")
    }

    @Test(arguments: [
        #"{"share":1}"#, #"{"share":1,"flag":null}"#, #"{"share":1,"flag":0}"#, #"{"flag":true}"#,
    ])
    func whatMayLack(json: String) {
        #expect(Self.mine(json, Part.self) == Self.foundations(json, Part.self), "\(json)")
    }
}
