// SPDX-License-Identifier: Apache-2.0

import NodeCore
import MeshProtocol
import NodeStore
import Testing

@testable import FieldTest

@Suite("The drives of a fleet's cars, and their collection")
struct FleetTests {
    @Test("every row of every drive is stored once, whatever is lost, repeated or interrupted", arguments: 1...40)
    func storm(seed: Int) throws {
        var world = FleetWorld(seed: UInt64(seed), faults: seed % 4 == 0 ? 30 : 10)
        world.startCar()
        for second in 0..<200 {
            world.record(second % 3)
            world.pass(hasCollector: second > 20)
            let isSound = world.isSound
            try #require(isSound, "after \(second) seconds")
        }
        world.endDrive()
        var calm = world.calmed()
        var isComplete = calm.isComplete
        for _ in 0..<2_000 {
            guard !isComplete else { break }
            calm.pass()
            isComplete = calm.isComplete
        }
        #expect(isComplete)
        // A further run removes what the last one did not get to.
        calm.startCar()
        calm.endDrive()
        for _ in 0..<20 { calm.pass() }
        // Headers are removed with their drives.
        #expect(calm.kept.filter { $0.hasSuffix("/head") }.isEmpty)
    }

    @Test("without faults each row is sent once, and the broker keeps nothing of a collected drive")
    func calm() {
        var world = FleetWorld(seed: 1, faults: 0)
        world.startCar()
        for _ in 0..<100 {
            world.record(2)
            world.pass()
        }
        world.endDrive()
        for _ in 0..<20 { world.pass() }
        let isComplete = world.isComplete
        #expect(isComplete)
        #expect(world.rowsPublished == 201)
        #expect(world.kept == ["test/drives/collector"])
        #expect(world.carTold.isEmpty)
        #expect(world.news.count == 3, "it begins, goes on and is complete: \(world.news)")
    }

    @Test("no row is sent without a collector; a missing collector and its return are each reported once")
    func nobody() {
        var world = FleetWorld(seed: 1, faults: 0)
        world.startCar()
        for _ in 0..<200 {
            world.record(1)
            world.pass(hasCollector: false)
        }
        #expect(world.rowsPublished == 0 && world.published == 1)
        #expect(world.carTold == [.refused(.nobody)])
        for _ in 0..<40 { world.pass() }
        #expect(world.carTold == [.refused(.nobody), .taken])
        #expect(world.rowsPublished == 200)
    }

    @Test("a drive with a power cut is sent by the next run, and is marked as interrupted")
    func cutOff() {
        var world = FleetWorld(seed: 1, faults: 0)
        world.startCar()
        world.record(30)
        world.startCar()
        for _ in 0..<60 { world.pass() }
        world.endDrive()
        for _ in 0..<20 { world.pass() }
        let isComplete = world.isComplete
        #expect(isComplete)
        let complete = world.news.compactMap { news -> Bool? in
            if case .complete(let progress) = news { progress.isCutOff } else { nil }
        }
        #expect(complete == [true, false])
    }

    @Test("a backlog is sent with at most one batch a second")
    func pace() {
        var world = FleetWorld(seed: 1, faults: 0)
        world.startCar()
        world.record(10_000)
        for _ in 0..<3 { world.pass() }
        let before = world.rowsPublished
        for _ in 0..<10 { world.pass() }
        let largest = FieldTestLimits.batchRows
        #expect(world.rowsPublished - before <= 10 * largest && world.rowsPublished > before)
    }

    // MARK: Hostile bytes

    private static let drive = FleetDrive(header: FleetWorld.header(0))

    private func collecting() throws -> (CollectMachine, FleetTopics, FleetDrive) {
        var machine = CollectMachine(prefix: "test", run: "1", [])
        let drive = try #require(Self.drive)
        let topics = FleetTopics(prefix: "test")
        let head = FleetHead(FleetWorld.header(0), final: nil).payload
        #expect(
            machine.handle(.arrived(topic: topics.head(drive), head), now: .zero)
                == [.begin(drive, header: FleetWorld.header(0))])
        _ = machine.handle(.began(drive, 1), now: .zero)
        return (machine, topics, drive)
    }

    @Test(
        "an invalid row is counted, and replaced by a row that marks it as missing",
        arguments: [
            "", "nonsense", "{}", "{\"at\":-1,\"kind\":\"tick\"}", "{\"at\":1e300,\"kind\":\"tick\"}",
            "{\"at\":\"1\",\"kind\":\"tick\"}", "[1]", String(repeating: "[", count: 3_000), "{\"at\":1,\"kind\":7}",
        ])
    func malformed(line: String) throws {
        var (machine, topics, drive) = try collecting()
        let good = "{\"at\":2,\"kind\":\"tick\"}"
        let payload = Array("0\n\(good)\n\(line)\n\(good)".utf8)
        let actions = machine.handle(.arrived(topic: topics.rows(drive), payload), now: .zero)
        guard case .append(_, 1, let lines, isEnd: false)? = actions.first else {
            Issue.record("\(actions)")
            return
        }
        #expect(lines == [good, "{\"at\":2,\"kind\":\"missing\",\"rows\":1}", good])
        let after = machine.handle(.appended(drive, isKept: true), now: .seconds(100))
        #expect(after.first == .publish(topic: topics.taken(drive), Array("3".utf8)))
        guard case .tell(.goesOn(let progress))? = after.last else {
            Issue.record("\(after)")
            return
        }
        #expect(progress.unreadable == 1 && progress.rows == 3)
    }

    @Test("a row of an unknown kind is kept for a later version")
    func unknownKind() throws {
        var (machine, topics, drive) = try collecting()
        let line = "{\"at\":2,\"kind\":\"tomorrow\"}"
        let actions = machine.handle(.arrived(topic: topics.rows(drive), Array("0\n\(line)".utf8)), now: .zero)
        #expect(actions == [.append(drive, 1, [line], isEnd: false)])
    }

    @Test("no bytes at any topic make a collector or a car trap, or start a drive")
    func noise() throws {
        var random = SeededGenerator(seed: 7)
        var (machine, topics, drive) = try collecting()
        var uplink = UplinkMachine(
            car: FleetWorld.address, prefix: "test",
            [UplinkMachine.Shared(number: 1, header: FleetWorld.header(0), rows: 5, isOver: true)])
        let names = [
            topics.head(drive), topics.rows(drive), topics.taken(drive), topics.collector, "test/drives",
            "test/drives///head",
            "test/drives/\(drive.car)/x/rows", "other", "test/drives/\(drive.car)/\(drive.name)/else", "",
        ]
        let starts = ["0\n", "999999999\n", "-1\n", "99999999999999999999\n", "{\"roadmeshDrive\":1", "\n\n", ""]
        for _ in 0..<5_000 {
            let bytes = random.bytes(random.below(40))
            let payload = Array((random.pick(starts) ?? "").utf8) + bytes
            let topic = random.pick(names) ?? ""
            for action in machine.handle(.arrived(topic: topic, payload), now: .zero) {
                if case .begin = action { Issue.record("no header begins a drive: \(payload)") }
                if case .append(let drive, _, _, _) = action {
                    _ = machine.handle(.appended(drive, isKept: true), now: .zero)
                }
            }
            _ = uplink.handle(.arrived(topic: topic, payload), random: random.next(), now: .zero)
        }
    }

    @Test("a header is accepted only at the topic of its own hash and its own car")
    func forgedHeader() throws {
        var machine = CollectMachine(prefix: "test", run: "1", [])
        let drive = try #require(Self.drive)
        let topics = FleetTopics(prefix: "test")
        let other = FleetHead(FleetWorld.header(1), final: nil).payload
        #expect(machine.handle(.arrived(topic: topics.head(drive), other), now: .zero).isEmpty)
    }

    @Test("a car can fill only its own slots, and that is reported once")
    func bounded() throws {
        var machine = CollectMachine(prefix: "test", run: "1", [])
        let topics = FleetTopics(prefix: "test")
        var (begun, told) = (0, 0)
        func offer(_ header: String) throws {
            let drive = try #require(FleetDrive(header: header))
            let actions = machine.handle(
                .arrived(topic: topics.head(drive), FleetHead(header, final: nil).payload), now: .zero)
            for action in actions {
                if case .begin = action {
                    begun += 1
                    _ = machine.handle(.began(drive, Int64(begun)), now: .zero)
                }
                if case .tell(.noRoom) = action { told += 1 }
            }
        }
        for number in 0..<(FieldTestLimits.collectedDrivesOfCar + 50) { try offer(FleetWorld.header(number)) }
        #expect(begun == FieldTestLimits.collectedDrivesOfCar && told == 1)
        var header = Drives.header("Other")
        header.peer = Peer(id: "00ee00112233445566778899aabbccdd", name: "Bob")
        try offer(JSONLine.text(header))
        #expect(begun == FieldTestLimits.collectedDrivesOfCar + 1)
        _ = machine.handle(.measured(bytes: FieldTestLimits.collectedBytes), now: .zero)
        header.name = "Another"
        try offer(JSONLine.text(header))
        #expect(begun == FieldTestLimits.collectedDrivesOfCar + 1, "a full disk accepts no drive")
    }

    @Test("a collected drive has no more rows than a recorded one")
    func longest() throws {
        let known = CollectMachine.Known(
            number: 1, header: FleetWorld.header(0), rows: StoreLimits.driveLines - 1, lastLine: nil, isArriving: true)
        var machine = CollectMachine(prefix: "test", run: "1", [known])
        let drive = try #require(Self.drive)
        let line = "{\"at\":2,\"kind\":\"tick\"}"
        let payload = Array("\(StoreLimits.driveLines - 1)\n\(line)\n\(line)".utf8)
        let actions = machine.handle(
            .arrived(topic: FleetTopics(prefix: "test").rows(drive), payload), now: .zero)
        #expect(actions == [.append(drive, 1, [line], isEnd: true)])
    }

    @Test("rows fill a message, and no message exceeds the limit of brokers")
    func batches() throws {
        let line = String(repeating: "x", count: 1_000)
        #expect(FleetRows(from: 7, fitting: Array(repeating: line, count: 9)).lines.count == 3)
        let rows = FleetRows(from: 7, fitting: [String(repeating: "x", count: 4_000), line])
        #expect(rows.lines.count == 2 && rows.lines[0].contains("missing"))
        #expect(rows.payload.count <= FieldTestLimits.messageBytes)
        #expect(FleetRows(rows.payload) == rows)
    }
}
