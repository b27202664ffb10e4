import IsletAlerts
import Foundation
import IsletResults
import IsletDevices
import IsletKernel
import Testing

@Suite struct SQLiteAlertStoreTests {
    @Test func whatWasWrittenIsThereAfterReopening() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "alerts-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("alerts.sqlite").path

        let clock = WallClock(startEpochSeconds: 0, zone: ZoneTable(name: "UTC", firstOffsetSeconds: 0))
        var app = try AlertApp(
            policy: .bionicloop, wallClock: clock, environment: AppEnvironment(),
            store: try SQLiteAlertStore(path: path), port: SimulatedNotificationCenter())
        try app.launch(inForeground: false, at: .start)
        _ = try app.settle(at: .start)
        try app.apply(.pumpIssue("fault", text: "occlusion"), at: .minutes(1))
        _ = try app.settle(at: .minutes(1))
        try app.apply(.metric(.glucose, 40, sampledAt: .minutes(2)), at: .minutes(2))
        _ = try app.settle(at: .minutes(2))
        try app.apply(.acknowledge("ALERT-PUMP-FAULT"), at: .minutes(3))
        _ = try app.settle(at: .minutes(3))

        let memory = try SQLiteAlertStore(path: path).load()
        #expect(memory == app.flow.rememberedMemory)
        #expect(memory.center?.recentlyCleared.map(\.alert.code) == ["ALERT-PUMP-FAULT"])
        #expect(memory.pump.open.isEmpty)

        var again = try AlertApp(
            policy: .bionicloop, wallClock: clock, environment: AppEnvironment(),
            store: try SQLiteAlertStore(path: path), port: SimulatedNotificationCenter())
        try again.launch(inForeground: false, at: .minutes(4))
        let effects = try again.settle(at: .minutes(4))
        #expect(!effects.contains { $0.kind == .raise || $0.kind == .notify })
        #expect(again.flow.engine.active.map(\.code) == ["ALERT-CGM-URGENT-LOW"])
    }
}
