// SPDX-License-Identifier: Apache-2.0

import FieldTest
import MeshProtocol
import MeshSession

/// The side of `fieldtest bench` that callers measure against. It serves any number of callers.
actor BenchListener {
    private let endpoint: MeshEndpoint
    private let machine: BenchMachine
    private let show: @Sendable (String) -> Void
    private var received: [Peer.ID: Int] = [:]
    private var sending: [Peer.ID: Task<Void, Never>] = [:]
    private var callers: Set<Peer.ID> = []
    private var mostCallers = 0

    init(_ endpoint: MeshEndpoint, _ machine: BenchMachine, show: @escaping @Sendable (String) -> Void) {
        (self.endpoint, self.machine, self.show) = (endpoint, machine, show)
    }

    /// Answers callers until the task is cancelled.
    func run() async throws {
        try await endpoint.executeThenClose { events in
            for await event in events {
                switch event {
                case .joined(let peer): joined(peer)
                case .message(let message, let peer): await answer(message.body, peer)
                case .left(let peer): left(peer)
                }
            }
        }
    }

    private func joined(_ peer: Peer) {
        callers.insert(peer.id)
        mostCallers = max(mostCallers, callers.count)
    }

    private func left(_ peer: Peer) {
        callers.remove(peer.id)
        // The caller asks again after a gap.
        sending.removeValue(forKey: peer.id)?.cancel()
    }

    private func answer(_ body: [UInt8], _ peer: Peer) async {
        guard body.first != BenchMessage.bulkMark else {
            received[peer.id, default: 0] += body.count
            return
        }
        switch BenchMessage(body) {
        case .hello(let caller, let known):
            if known == nil { show("A caller measures: \(caller.shortened.text)") }
            await send(.hello(machine, callers: mostCallers), to: peer)
        case .echo(let number): await send(.echo(number), to: peer)
        case .end: await send(.end(bytes: received.removeValue(forKey: peer.id) ?? 0), to: peer)
        case .request(let milliseconds):
            sending[peer.id]?.cancel()
            sending[peer.id] = Task { await self.sendBulk(to: peer, for: Self.time(milliseconds)) }
        case .idle(let milliseconds):
            Task { await self.send(.load(ProcessLoad.measured(for: Self.time(milliseconds))), to: peer) }
        case .load, nil: break
        }
    }

    /// The time that a caller asks for, at most the longest that a person can choose.
    private static func time(_ milliseconds: Int) -> Duration {
        .milliseconds(min(max(milliseconds, 0), BenchLimits.mostSeconds * 1_000))
    }

    private func sendBulk(to peer: Peer, for time: Duration) async {
        let end = ContinuousClock.now + time
        var bytes = 0
        do {
            while ContinuousClock.now < end {
                try await endpoint.send(BenchMessage.bulk, to: peer.id)
                bytes += BenchMessage.bulk.count
            }
            try await endpoint.send(BenchMessage.end(bytes: bytes).body, to: peer.id)
        } catch {
            // The caller has left, or has asked again.
        }
    }

    private func send(_ message: BenchMessage, to peer: Peer) async {
        // A caller that has left needs no answer. Other callers do not wait for room in this caller's outbox.
        await endpoint.trySend(message.body, to: peer.id)
    }
}
