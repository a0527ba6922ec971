// SPDX-License-Identifier: Apache-2.0

import BrokerBearer
import Logging
import MeshProtocol
import NodeCore
import NodeStore

/// Stores the drives that cars publish at a broker in a folder's drive store. `CollectMachine` decides.
public actor DriveCollector {
    /// A notification for people.
    public enum News: Hashable, Sendable {
        /// The broker is connected.
        case connected
        /// The broker is not connected, with the reason.
        case unreachable(String)
        /// The disk refuses rows, with the reason.
        case notKept(String)
        /// About a drive.
        case drive(CollectMachine.News)
    }

    private let store: DriveStore
    private let client: BrokerClient
    private let topics: FleetTopics
    private var machine: CollectMachine
    private let tell: @Sendable (News) -> Void
    private let origin = ContinuousClock.now
    private var told: News?

    /// Makes a collector for this store.
    public init(
        into store: DriveStore, broker: BrokerAddress, files: BrokerFiles, tell: @escaping @Sendable (News) -> Void
    ) throws(NodeStoreError) {
        (self.store, self.tell) = (store, tell)
        topics = FleetTopics(prefix: broker.prefix)
        let known = try store.drives().map {
            CollectMachine.Known(
                number: $0.number, header: $0.header, rows: $0.lines, lastLine: $0.lastLine,
                isArriving: $0.sharing == .arriving && !$0.isEnded)
        }
        // Each collector has its own client identifier, because of two equal clients a broker ends one.
        let run = String(UInt64.random(in: 0 ... .max), radix: 16)
        machine = CollectMachine(prefix: broker.prefix, run: run, known)
        client = BrokerClient(
            broker, files: files, name: "rc" + run, messageBytes: FieldTestLimits.messageBytes,
            lastWill: topics.collector)
    }

    /// Collects until its task is cancelled.
    public func run() async {
        await perform(.measured(bytes: (try? store.bytes) ?? 0))
        await client.open()
        await withTaskCancellationHandler {
            for await event in client.events { await take(event) }
        } onCancel: {
            Task { await self.end() }
        }
        store.close()
    }

    private func end() async {
        await client.publish(topics.collector, [], isRetained: true)
        await client.close()
    }

    private func take(_ event: BrokerClient.Event) async {
        switch event {
        case .connected:
            say(.connected)
            await perform(.connected)
        case .arrived(let topic, let payload): await perform(.arrived(topic: topic, payload))
        case .ended(let fault): say(.unreachable(fault.cause))
        case .granted: break
        }
    }

    /// Reports news, unless it equals the last.
    private func say(_ news: News) {
        guard news != told else { return }
        told = news
        tell(news)
    }

    /// Handles an event and performs its actions. Later events wait until writes are done.
    private func perform(_ event: CollectMachine.Event) async {
        var events = [event]
        while !events.isEmpty {
            let next = events.removeFirst()
            for action in machine.handle(next, now: ContinuousClock.now - origin) {
                switch action {
                case .subscribe(let filter): await client.subscribe(filter)
                case .publish(let topic, let payload): await client.publish(topic, payload, isRetained: true)
                case .begin(let drive, let header):
                    let number = kept { () throws(NodeStoreError) in try store.begin(header: header, sharing: .arriving)
                    }
                    events.append(.began(drive, number))
                case .append(let drive, let number, let lines, let isEnd):
                    events.append(.appended(drive, isKept: await append(lines, to: number, isEnd)))
                    events.append(.measured(bytes: (try? store.bytes) ?? 0))
                case .close(let drive, let number):
                    if kept({ () throws(NodeStoreError) in try store.mark(number, .none) }) != nil {
                        events.append(.closed(drive))
                    }
                case .tell(let news): tell(.drive(news))
                }
            }
        }
    }

    private func append(_ lines: [String], to number: Int64, _ isEnd: Bool) async -> Bool {
        do throws(NodeStoreError) {
            try await store.append(lines, to: number, isEnd: isEnd)
        } catch {
            say(.notKept(error.cause))
            return false
        }
        if told != .connected { told = .connected }
        return true
    }

    private func kept<Value>(_ body: () throws(NodeStoreError) -> Value) -> Value? {
        do throws(NodeStoreError) {
            return try body()
        } catch {
            say(.notKept(error.cause))
            return nil
        }
    }
}
