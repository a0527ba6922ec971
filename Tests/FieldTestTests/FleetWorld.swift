// SPDX-License-Identifier: Apache-2.0

import NodeCore
import MeshProtocol

@testable import FieldTest

/// A car that shares its drives, a broker that drops, repeats and reorders messages, and a collector. Each may end at
/// any time.
struct FleetWorld {
    static let prefix = "test"

    /// A drive in the car's store.
    struct Recorded {
        var header: String
        var rows: [String] = []
        var isCollected = false
    }

    /// A drive in the collector's store.
    struct Collected {
        var header: String
        var rows: [String] = []
        var isEnded = false
        var isArriving = true
    }

    private enum Client { case car, collector }

    private struct Message {
        var to: Client
        var topic: String
        var payload: [UInt8]
    }

    private var random: SeededGenerator
    /// Probability of a fault, in percent.
    private let faults: Int
    private(set) var car: [Recorded] = []
    private(set) var collected: [Collected] = []
    private(set) var news: [CollectMachine.News] = []
    private(set) var carTold: [UplinkMachine.Action] = []
    private var uplink: UplinkMachine?
    private var collector: CollectMachine?
    private var retained: [String: [UInt8]] = [:]
    private var messages: [Message] = []
    private var isCarConnected = false
    private var isCollectorConnected = false
    private var now: Duration = .zero
    private(set) var published = 0
    /// How many rows the car has published, including repeated ones.
    private(set) var rowsPublished = 0

    init(seed: UInt64, faults: Int) {
        random = SeededGenerator(seed: seed)
        self.faults = faults
    }

    private mutating func chance(_ percent: Int) -> Bool { random.chance(percent) }

    // MARK: The car

    static func header(_ number: Int) -> String { JSONLine.text(Drives.header("Drive \(number)")) }
    static let address = "ffee001122334455"

    /// Starts a run of the car's program, with a new recording.
    mutating func startCar() {
        car.append(Recorded(header: Self.header(car.count)))
        let shared = car.indices.filter { !car[$0].isCollected }.map {
            UplinkMachine.Shared(
                number: Int64($0), header: car[$0].header, rows: car[$0].rows.count, isOver: $0 != car.count - 1)
        }
        let collected = car.filter(\.isCollected).suffix(FieldTestLimits.withdrawnDrives).map(\.header)
        uplink = UplinkMachine(car: Self.address, prefix: Self.prefix, shared, collected: collected)
        isCarConnected = false
    }

    mutating func record(_ count: Int) {
        guard let last = car.indices.last else { return }
        for _ in 0..<count {
            car[last].rows.append(JSONLine.text(DriveRow(at: .seconds(car[last].rows.count), .mark("row"))))
        }
        feedCar(.written(Int64(last), rows: car[last].rows.count, isOver: false))
    }

    /// Ends the recording regularly.
    mutating func endDrive() {
        guard let last = car.indices.last else { return }
        car[last].rows.append(JSONLine.text(DriveRow(at: .seconds(car[last].rows.count), .end("quit"))))
        feedCar(.written(Int64(last), rows: car[last].rows.count, isOver: true))
    }

    private mutating func feedCar(_ event: UplinkMachine.Event) {
        guard var machine = uplink else { return }
        let actions = machine.handle(event, random: random.next(), now: now)
        uplink = machine
        for action in actions {
            switch action {
            case .publish(let topic, let payload, let isRetained):
                rowsPublished += FleetRows(payload)?.lines.count ?? 0
                publish(topic, payload, isRetained, by: .car)
            case .subscribe(let filter):
                for (topic, payload) in retained where Self.fits(topic, filter) {
                    messages.append(Message(to: .car, topic: topic, payload: payload))
                }
            case .read(let number, let first):
                feedCar(.read(number, from: first, Array(car[Int(number)].rows.dropFirst(first).prefix(160))))
            case .mark(let number):
                // The power may go before or after this is stored.
                if chance(faults) { return startCar() }
                car[Int(number)].isCollected = true
                if chance(faults) { return startCar() }
                feedCar(.marked(number))
            case .refused, .taken: carTold.append(action)
            }
        }
    }

    // MARK: The collector

    mutating func startCollector() {
        let known = collected.indices.map {
            CollectMachine.Known(
                number: Int64($0), header: collected[$0].header, rows: collected[$0].rows.count,
                lastLine: collected[$0].rows.last,
                isArriving: collected[$0].isArriving && !collected[$0].isEnded)
        }
        stopCollector()
        collector = CollectMachine(prefix: Self.prefix, run: "\(random.next())", known)
    }

    mutating func stopCollector() {
        if isCollectorConnected { publish("test/drives/collector", [], true, by: .collector) }
        collector = nil
        isCollectorConnected = false
    }

    private mutating func feedCollector(_ event: CollectMachine.Event) {
        guard var machine = collector else { return }
        let actions = machine.handle(event, now: now)
        collector = machine
        for action in actions {
            // It may be killed between any two of them.
            if chance(faults / 4) { return startCollector() }
            switch action {
            case .subscribe(let filter):
                for (topic, payload) in retained where Self.fits(topic, filter) {
                    messages.append(Message(to: .collector, topic: topic, payload: payload))
                }
            case .publish(let topic, let payload): publish(topic, payload, true, by: .collector)
            case .begin(let drive, let header):
                collected.append(Collected(header: header))
                if chance(faults / 4) { return startCollector() }
                feedCollector(.began(drive, Int64(collected.count - 1)))
            case .append(let drive, let number, let lines, let isEnd):
                // The disk is full for a short time.
                if chance(faults / 2) {
                    feedCollector(.appended(drive, isKept: false))
                    continue
                }
                collected[Int(number)].rows += lines
                collected[Int(number)].isEnded = isEnd
                if chance(faults / 4) { return startCollector() }
                feedCollector(.appended(drive, isKept: true))
            case .close(let drive, let number):
                collected[Int(number)].isArriving = false
                feedCollector(.closed(drive))
            case .tell(let told): news.append(told)
            }
        }
    }

    // MARK: The broker

    /// A client publishes a message.
    mutating func publish(_ topic: String, _ payload: [UInt8], isRetained: Bool) {
        publish(topic, payload, isRetained, by: .car)
    }

    private mutating func publish(_ topic: String, _ payload: [UInt8], _ isRetained: Bool, by client: Client) {
        published += 1
        if isRetained { retained[topic] = payload.isEmpty ? nil : payload }
        let isForCar = topic.hasSuffix("/taken") || topic.hasSuffix("/collector")
        let isForCollector = !topic.hasSuffix("/taken")
        for (isFor, to) in [(isForCar, Client.car), (isForCollector, .collector)] where isFor {
            // The message is lost by a full queue at the broker or a broken network, with or without its connection.
            if chance(faults / 2) { continue }
            messages.append(Message(to: to, topic: topic, payload: payload))
            if chance(faults / 2) { messages.append(Message(to: to, topic: topic, payload: payload)) }
        }
    }

    private static func fits(_ topic: String, _ filter: String) -> Bool {
        let (parts, wanted) = (topic.split(separator: "/"), filter.split(separator: "/"))
        return parts.count == wanted.count && zip(parts, wanted).allSatisfy { $1 == "+" || $0 == $1 }
    }

    private mutating func deliver() {
        for _ in 0..<messages.count {
            let isFirst = faults == 0 || chance(80)
            let index = isFirst ? 0 : random.below(messages.count)
            let message = messages.remove(at: index)
            switch message.to {
            case .car: if isCarConnected { feedCar(.arrived(topic: message.topic, message.payload)) }
            case .collector: if isCollectorConnected { feedCollector(.arrived(topic: message.topic, message.payload)) }
            }
        }
    }

    private mutating func connect() {
        if !isCollectorConnected, collector != nil {
            isCollectorConnected = true
            feedCollector(.connected)
        }
        guard !isCarConnected, let filters = uplink?.filters else { return }
        isCarConnected = true
        feedCar(.connected)
        for (topic, payload) in retained where filters.contains(where: { Self.fits(topic, $0) }) {
            messages.append(Message(to: .car, topic: topic, payload: payload))
        }
        feedCar(.listening)
    }

    // MARK: Time

    /// Advances the time by a second, with its faults.
    mutating func pass(hasCollector: Bool = true) {
        now += .seconds(1)
        if chance(faults) {
            switch random.below(5) {
            case 0: startCar()
            case 1: if collector != nil { startCollector() }
            case 2:
                // The broker loses its power, and its data.
                (retained, messages, isCarConnected, isCollectorConnected) = ([:], [], false, false)
                feedCar(.ended)
            case 3:
                isCarConnected = false
                feedCar(.ended)
            default:
                if isCollectorConnected { publish("test/drives/collector", [], true, by: .collector) }
                isCollectorConnected = false
            }
        }
        if hasCollector, collector == nil { startCollector() }
        connect()
        feedCar(.tick)
        deliver()
    }

    /// The same world without further faults.
    func calmed() -> FleetWorld {
        var world = FleetWorld(seed: 1, faults: 0)
        (world.car, world.collected, world.uplink, world.collector) = (car, collected, uplink, collector)
        (world.retained, world.messages, world.now) = (retained, messages, now)
        (world.isCarConnected, world.isCollectorConnected) = (isCarConnected, isCollectorConnected)
        return world
    }

    /// The invariant: of each drive, the collector has the first rows, each once and in order.
    var isSound: Bool {
        Set(collected.map(\.header)).count == collected.count
            && collected.allSatisfy { drive in
                guard let recorded = car.first(where: { $0.header == drive.header }) else { return false }
                return recorded.rows.prefix(drive.rows.count).elementsEqual(drive.rows)
            }
    }

    /// All recorded rows are stored, and the car knows that.
    var isComplete: Bool {
        isSound && collected.count == car.count
            && car.allSatisfy { drive in
                drive.isCollected && collected.contains { $0.header == drive.header && $0.rows == drive.rows }
            }
    }

    /// The topics that the broker retains.
    var kept: [String] { retained.keys.sorted() }
}
