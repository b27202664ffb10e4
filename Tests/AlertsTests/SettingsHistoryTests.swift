// Random histories of three devices and their hub: offline edits, lost, doubled and late messages, restarts, clocks that jump.

import IsletAlerts
import Foundation
import IsletDevices
import IsletKernel
import Testing

/// Devices, hub, and what is on its way between them.
private struct World {
    static let names = ["phone", "tablet", "watch"]
    static let start: Int64 = 1_772_000_000

    /// A write as it was made, and which it was made after.
    struct Made {
        var write: SettingWrite
        var known: Set<Int>
    }

    var random: RandomStream
    var devices = names.map { SettingsLedger(device: $0) }
    var hub = SettingsLedger(device: "hub")
    var epoch = 0
    var now = start
    var offsets: [Int64] = [0, 0, 0]
    var requests: [(device: Int, request: SettingsRequest)] = []
    var answers: [(device: Int, request: SettingsRequest, answer: SettingsAnswer)] = []
    var made: [Made] = []
    var known: [Set<Int>] = [[], [], []]
    let subjects: [String]

    init(seed: Int) {
        random = RandomStream(key: 14, index: UInt64(seed))
        subjects = seed % 2 == 0 ? ["ann"] : ["ann", "basil"]
        for device in 0..<3 { offsets[device] = Int64.random(in: -7200...7200, using: &random) }
    }

    func clock(_ device: Int) -> Int64 { now + offsets[device] }

    mutating func write(_ device: Int, deletes: Bool) throws {
        let subject = subjects[Int.random(in: 0..<subjects.count, using: &random)]
        let metric = [AlertMetric.glucose, .temperature][Int.random(in: 0..<2, using: &random)]
        let key = OwnerSetting.key(subject, metric)
        if deletes {
            guard devices[device].delete(key, clock: clock(device)) else { return }
        } else {
            // Its bound names the write.
            try devices[device].set(
                .threshold(
                    AlertThreshold(
                        subject: subject, metric: metric, max: 100 + Double(made.count) / 1000,
                        isEnabled: Bool.random(using: &random))), clock: clock(device))
        }
        guard let write = devices[device].row(key)?.write else { return }
        made.append(Made(write: write, known: known[device]))
        known[device].insert(made.count - 1)
    }

    /// Which write it is; a refused one that got another time is still the same.
    func id(_ write: SettingWrite) -> Int? {
        made.firstIndex {
            $0.write.key == write.key && $0.write.device == write.device && $0.write.setting == write.setting
                && (write.setting != nil || $0.write.time == write.time)
        }
    }

    mutating func ask(_ device: Int) {
        devices[device].restampRefused(clock: clock(device))
        requests.append((device, devices[device].request(limit: Int.random(in: 1...3, using: &random))))
    }

    mutating func reachHub(_ place: Int) {
        let (device, request) = requests[place]
        let answer = hub.answer(
            request, clock: now, epoch: "\(epoch)", limit: Int.random(in: 1...4, using: &random))
        answers.append((device, request, answer))
    }

    mutating func reachDevice(_ place: Int) {
        let (device, request, answer) = answers[place]
        devices[device].take(answer, to: request)
        for write in answer.writes {
            guard let id = id(write) else { continue }
            known[device].formUnion(made[id].known)
            known[device].insert(id)
        }
    }

    /// Something happens.
    mutating func step(deletes: Bool) throws {
        let device = Int.random(in: 0..<3, using: &random)
        now += Int64.random(in: 0...1, using: &random)
        switch Int.random(in: 0..<16, using: &random) {
        case 0...3: try write(device, deletes: deletes && Int.random(in: 0..<3, using: &random) == 0)
        case 4...5: ask(device)
        case 6...7:
            guard let place = requests.indices.randomElement(using: &random) else { return }
            reachHub(place)
            if Bool.random(using: &random) { requests.remove(at: place) }
        case 8...9:
            guard let place = answers.indices.randomElement(using: &random) else { return }
            reachDevice(place)
            if Bool.random(using: &random) { answers.remove(at: place) }
        case 10...13: exchange(device)
        case 14:
            if Bool.random(using: &random), !requests.isEmpty { requests.removeFirst() }
            if Bool.random(using: &random), !answers.isEmpty { answers.removeFirst() }
        default:
            if Int.random(in: 0..<4, using: &random) == 0 { epoch += 1 }
            offsets[device] = Int64.random(in: -7200...7200, using: &random)
        }
    }

    /// One exchange without a loss.
    mutating func exchange(_ device: Int) {
        ask(device)
        reachHub(requests.count - 1)
        reachDevice(answers.count - 1)
        requests.removeLast()
        answers.removeLast()
    }

    /// Everybody talks until nobody has anything to say.
    mutating func settle() {
        for _ in 0..<40 {
            let before = devices
            for device in 0..<3 { exchange(device) }
            // Places in the hub count too: a page may bring nothing new, and the next one does.
            if before == devices, devices.map(\.hasUnsent) == [false, false, false] { return }
        }
    }

    var states: Set<[SettingWrite]> { Set((devices + [hub]).map { $0.rows.map(\.write) }) }
}

@Suite struct SettingsHistoryTests {
    private static let histories =
        ProcessInfo.processInfo.environment["ISLET_SOAK"] == nil ? 1500 : 20_000

    @Test func `12 any history of three devices converges, and no later write is lost to an earlier one`()
        throws
    {
        for seed in 0..<Self.histories {
            var world = World(seed: seed)
            for _ in 0..<24 { try world.step(deletes: true) }
            world.settle()
            guard world.states.count == 1, let final = world.states.first else {
                #expect(Bool(false), "seed \(seed): the devices differ")
                continue
            }
            for write in final {
                let rivals = world.made.filter { $0.write.key == write.key }
                // The newest of all that were ever made, deletions among them.
                #expect(rivals.allSatisfy { !$0.write.supersedes(write) }, "seed \(seed)")
                guard let id = world.id(write) else {
                    #expect(Bool(false), "seed \(seed): a write that nobody made")
                    continue
                }
                #expect(!rivals.contains { $0.known.contains(id) }, "seed \(seed): an edit was lost")
            }
            #expect(final.count == Set(world.made.map(\.write.key)).count, "seed \(seed): a setting was lost")
            #expect(world.devices.map(\.hasUnsent) == [false, false, false], "seed \(seed)")
        }
    }

    @Test func `12 a clock that is a year ahead for a while freezes nobody's settings, and loses no edit`()
        throws
    {
        for seed in 0..<Self.histories / 5 {
            var world = World(seed: seed)
            world.offsets = [0, 0, 366 * 86_400]
            for _ in 0..<20 {
                let device = Int.random(in: 0..<3, using: &world.random)
                world.now += 1
                if Bool.random(using: &world.random) {
                    try world.write(device, deletes: false)
                } else {
                    world.exchange(device)
                }
                if Int.random(in: 0..<15, using: &world.random) == 0 { world.offsets[2] = 0 }
            }
            // What the others set meanwhile is of now, and has not waited for the year to pass.
            let ahead = world.hub.rows.filter { $0.write.time.seconds > world.now + 86_400 }
            #expect(ahead.isEmpty, "seed \(seed)")
            world.offsets[2] = 0
            world.settle()
            guard world.states.count == 1, let final = world.states.first else {
                #expect(Bool(false), "seed \(seed): the devices differ")
                continue
            }
            for write in final {
                #expect(write.time.seconds <= world.now + 1, "seed \(seed)")
                guard let id = world.id(write) else { continue }
                let rivals = world.made.filter { $0.write.key == write.key }
                #expect(!rivals.contains { $0.known.contains(id) }, "seed \(seed): an edit was lost")
            }
            #expect(world.devices.allSatisfy { $0.refused.isEmpty && !$0.hasUnsent }, "seed \(seed)")
        }
    }

    @Test func `12 a hub whose own clock was a year ahead goes on taking what follows`() throws {
        var world = World(seed: 0)
        world.now += 366 * 86_400
        try world.write(0, deletes: false)
        world.exchange(0)
        #expect(world.devices[0].refused.isEmpty)
        world.now = World.start
        for device in [1, 2, 0, 1] {
            world.exchange(device)
            try world.write(device, deletes: false)
            world.exchange(device)
            #expect(world.devices[device].refused.isEmpty && !world.devices[device].hasUnsent)
        }
        world.settle()
        #expect(world.states.count == 1)
    }

    @Test func `12 a time more than a day ahead is refused, with the reason, and the device keeps its write`()
        throws
    {
        var (device, hub) = (SettingsLedger(device: "phone"), SettingsLedger(device: "hub"))
        let now = World.start
        let setting = OwnerSetting.threshold(AlertThreshold(subject: "ann", metric: .glucose, min: 70))
        for ahead in [86_400, 86_401] as [Int64] {
            var one = device
            try one.set(setting, clock: now + ahead)
            let request = one.request()
            let answer = hub.answer(request, clock: now, epoch: "1")
            one.take(answer, to: request)
            #expect(one.refused.isEmpty == (ahead == 86_400))
            #expect(OwnerSettings(one).thresholds.map(\.min) == [70], "kept here")
            hub = SettingsLedger(device: "hub")
        }
        try device.set(setting, clock: now + 400 * 86_400)
        var request = device.request()
        device.take(hub.answer(request, clock: now, epoch: "1"), to: request)
        #expect(
            device.refused.first?.refusal
                == "its time is 400 days ahead of the hub's clock; a day is the most")
        #expect(hub.rows.isEmpty)
        // It can go on: as soon as the clock is right, what was refused and what is new are of now.
        let other = OwnerSetting.threshold(AlertThreshold(subject: "ann", metric: .reservoir, min: 20))
        try device.set(other, clock: now + 5)
        #expect(device.refused.isEmpty)
        request = device.request()
        device.take(hub.answer(request, clock: now + 6, epoch: "1"), to: request)
        #expect(device.refused.isEmpty && !device.hasUnsent && hub.rows.count == 2)
        #expect(hub.rows.allSatisfy { $0.write.time.seconds == now + 5 })
    }

    @Test func `12 an edit made while the answer is on its way stays to be sent`() throws {
        var (device, hub) = (SettingsLedger(device: "phone"), SettingsLedger(device: "hub"))
        func set(_ min: Double) throws {
            try device.set(
                .threshold(AlertThreshold(subject: "ann", metric: .glucose, min: min)), clock: World.start)
        }
        try set(70)
        let request = device.request()
        let answer = hub.answer(request, clock: World.start, epoch: "1")
        try set(75)
        device.take(answer, to: request)
        #expect(device.hasUnsent && OwnerSettings(device).thresholds.map(\.min) == [75])
        device.take(answer, to: request)
        #expect(OwnerSettings(device).thresholds.map(\.min) == [75])
    }

    @Test func `12 what no store may hold is refused by itself, and the rest is taken`() throws {
        var hub = SettingsLedger(device: "hub")
        let time = HybridTime(seconds: World.start)
        func write(_ threshold: AlertThreshold) -> SettingWrite {
            SettingWrite(
                OwnerSetting.threshold(threshold).key, .threshold(threshold), time: time, device: "phone")
        }
        let good = AlertThreshold(subject: "ann", metric: .glucose, min: 70)
        let writes = [
            write(AlertThreshold(subject: "ann", metric: .glucose, min: 200, max: 100)), write(good),
            SettingWrite("threshold/ann/vpd", .threshold(good), time: time, device: "phone"),
            SettingWrite("else", nil, time: time, device: "phone"),
            SettingWrite(
                "quietHours", nil, time: HybridTime(seconds: World.start, sequence: .max), device: "phone"),
            SettingWrite("quietHours", nil, time: HybridTime(seconds: .min), device: "phone"),
        ]
        let answer = hub.answer(
            SettingsRequest(device: "phone", epoch: nil, after: 0, writes: writes), clock: World.start,
            epoch: "1")
        #expect(answer.refused.map(\.index) == [0, 2, 3, 4, 5])
        #expect(hub.rows.map(\.write) == [write(good)])
        #expect(answer.refused.first?.reason.contains("min below max") == true)
    }
}
