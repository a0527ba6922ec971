// SPDX-License-Identifier: Apache-2.0

import BrokerBearer
import Logging
import MeshProtocol
import NodeCore
import NodeStore
import ServiceLifecycle

/// Sends the shared drives of a state folder to a collector at a broker, while one of these drives is recorded.
///
/// `UplinkMachine` decides. This actor has its own reader of the store, so the recording never waits for it.
public actor DriveUplink: Service {
    /// The progress of a recording.
    public struct Progress: Hashable, Sendable {
        /// The number of the drive in the store.
        public var number: Int64
        /// Rows on the disk.
        public var rows: Int
        /// The recording has ended.
        public var isOver: Bool
    }

    private enum Happening: Sendable {
        case broker(BrokerClient.Event)
        case recorded(Progress)
        /// The recording has written its last row.
        case ended
        case tick
        /// The time for the end is over.
        case late
    }

    private let folder: String
    private let recording: AsyncStream<Progress>
    /// The number of the drive that is being recorded.
    private let current: Int64
    private let car: String
    private let broker: BrokerAddress
    private let client: BrokerClient
    private let tell: @Sendable (UplinkMachine.Cause?) async -> Void
    private let logger: Logger
    private let origin = ContinuousClock.now
    private var granted: Set<String> = []

    /// An uplink of the node with this identifier. `tell` notifies people why rows are not accepted, and with nil that
    /// they are again.
    public init(
        _ recording: DriveRecording, in folder: String, peer: Peer, broker: BrokerAddress, files: BrokerFiles,
        logger: Logger, tell: @escaping @Sendable (UplinkMachine.Cause?) async -> Void
    ) {
        self.init(
            recording.progress, of: recording.number, in: folder, peer: peer, broker: broker, files: files,
            logger: logger, tell: tell)
    }

    init(
        _ recording: AsyncStream<Progress>, of number: Int64, in folder: String, peer: Peer, broker: BrokerAddress,
        files: BrokerFiles, logger: Logger, tell: @escaping @Sendable (UplinkMachine.Cause?) async -> Void
    ) {
        guard let car = FleetDrive.address(of: peer.id) else { preconditionFailure("an identifier has 32 digits") }
        (self.folder, self.car, self.broker, self.logger, self.tell) = (folder, car, broker, logger, tell)
        (self.recording, current) = (recording, number)
        // The client identifier of the radio is `rm` and the address. A broker disconnects the first of two clients
        // with the same identifier.
        client = BrokerClient(broker, files: files, name: "ru" + car, messageBytes: FieldTestLimits.messageBytes)
    }

    /// Sends until the recording has ended, and then for a short time the remaining rows.
    public func run() async {
        do throws(NodeStoreError) {
            guard let store = try DriveStore.read(in: folder) else { return }
            await send(from: store, try UplinkMachine(car: car, prefix: broker.prefix, store, current: current))
            store.close()
        } catch {
            // The recorded rows stay in the store, and the next run sends them.
            logger.error("the recorded drives cannot be sent: \(error)")
            for await _ in recording {}
        }
    }

    private func send(from store: DriveStore, _ machine: UplinkMachine) async {
        var machine = machine
        let (happenings, sink) = AsyncStream.makeStream(of: Happening.self)
        let feeders = feeders(sink)
        await client.open()
        for await happening in happenings {
            if case .late = happening { break }
            for event in events(of: happening) {
                await perform(event, store, &machine)
            }
            if machine.isDone { break }
        }
        for feeder in feeders { feeder.cancel() }
        await client.close()
    }

    private func feeders(_ sink: AsyncStream<Happening>.Continuation) -> [Task<Void, Never>] {
        let (client, recording) = (client, recording)
        return [
            Task { for await event in client.events { sink.yield(.broker(event)) } },
            Task {
                for await progress in recording { sink.yield(.recorded(progress)) }
                sink.yield(.ended)
                try? await Task.sleep(for: FieldTestLimits.uplinkFarewell)
                sink.yield(.late)
            },
            Task {
                while !Task.isCancelled {
                    try? await Task.sleep(for: FieldTestLimits.uplinkPace)
                    sink.yield(.tick)
                }
            },
        ]
    }

    private func events(of happening: Happening) -> [UplinkMachine.Event] {
        switch happening {
        case .broker(.connected):
            granted = []
            return [.connected]
        case .broker(.granted(let filter)):
            granted.insert(filter)
            return granted.count == 2 ? [.listening] : []
        case .broker(.arrived(let topic, let payload)): return [.arrived(topic: topic, payload)]
        case .broker(.ended(let fault)):
            logger.info("uplink: \(fault.cause)")
            return [.ended]
        case .recorded(let progress):
            return [.written(progress.number, rows: progress.rows, isOver: progress.isOver)]
        case .ended: return [.ending]
        case .tick: return [.tick]
        case .late: return []
        }
    }

    /// Handles an event and performs its actions.
    private func perform(_ event: UplinkMachine.Event, _ store: DriveStore, _ machine: inout UplinkMachine) async {
        var events = [event]
        while !events.isEmpty {
            let next = events.removeFirst()
            if case .connected = next { for filter in machine.filters { await client.subscribe(filter) } }
            let now = ContinuousClock.now - origin
            for action in machine.handle(next, random: .random(in: .min ... .max), now: now) {
                switch action {
                case .publish(let topic, let payload, let isRetained):
                    await client.publish(topic, payload, isRetained: isRetained)
                case .subscribe(let filter): await client.subscribe(filter)
                case .read(let number, let first):
                    let lines = try? store.lines(of: number, from: first, atMost: FieldTestLimits.batchRows)
                    events.append(.read(number, from: first, lines))
                case .mark(let number):
                    // If the disk refuses, a later run marks the drive.
                    if (try? store.mark(number, .collected)) != nil { events.append(.marked(number)) }
                case .refused(let cause): await tell(cause)
                case .taken: await tell(nil)
                }
            }
        }
    }
}

extension UplinkMachine {
    /// The drives of a folder that are shared. All except the current one are finished.
    init(car: String, prefix: String, _ store: DriveStore, current: Int64) throws(NodeStoreError) {
        let drives = try store.drives()
        let shared = drives.filter { $0.sharing == .shared }.map {
            Shared(number: $0.number, header: $0.header, rows: $0.lines, isOver: $0.number != current)
        }
        let collected = drives.filter { $0.sharing == .collected }.suffix(FieldTestLimits.withdrawnDrives)
        self.init(car: car, prefix: prefix, shared, collected: collected.map(\.header))
    }
}
