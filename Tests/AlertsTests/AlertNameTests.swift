// Alerts keep the type of their name up to who writes it; written, it is plain text.

import IsletAlerts
import Foundation
import IsletDevices
import IsletKernel
import Testing

@Suite struct AlertNameTests {
    @Test func `is written as the plain text that it was before it had a type`() throws {
        let names: [AlertName] = ["ALERT-PUMP-FAULT", "TOO-HOT", .none]
        let text = String(decoding: try JSONEncoder().encode(names), as: UTF8.self)
        #expect(text == #"["ALERT-PUMP-FAULT","TOO-HOT",""]"#)
        #expect(try JSONDecoder().decode([AlertName].self, from: Data(text.utf8)) == names)
        #expect(names.map(\.description) == names.map(\.rawValue) && names.sorted().first == AlertName.none)
    }

    @Test func `is of the catalogue or of the policy alone`() {
        for code in AlertCode.allCases { #expect(AlertCode(code.name) == code) }
        #expect(AlertCode("TOO-HOT" as AlertName) == nil)
    }

    @Test func `goes from the rule through effects, lists and banners without becoming text`() throws {
        var rule = AlertRule(
            code: "TOO-HOT", trigger: .metrics([MetricTest(.glucose, .high, 250)]), severity: .actionable)
        rule.acknowledgement = .reviews
        var world = AlertWorld.make(AlertPolicy(name: "p", rules: [rule]), appState: .foreground)
        world.run(
            [(.minutes(1), [.user(.metric(.glucose, 300, sampledAt: .minutes(1)))])], until: .minutes(1))
        let name: AlertName = rule.code
        #expect(world.effects.map(\.code) == [AlertName](repeating: name, count: world.effects.count))
        #expect(!world.effects.isEmpty && world.app?.flow.engine.active.map(\.code) == [name])
        #expect(world.app?.banner(at: .minutes(1))?.code == name)
    }
}
