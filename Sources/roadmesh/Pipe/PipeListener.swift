// SPDX-License-Identifier: Apache-2.0

import Bearers
import MeshProtocol
import MeshSession

/// The side of a pipe that waits for callers. Standard input and output serve one caller. Connections serve any number.
actor PipeListener {
    private let endpoint: MeshEndpoint
    private let kind: PipeKind
    /// How long a caller may be out of range.
    private let patience: Duration
    private let makeRunner: @Sendable (PipeSession) -> PipeRunner
    private let show: @Sendable (PipeEvent) -> Void

    private struct Call {
        let session: [UInt8]
        let runner: PipeRunner
        let running: Task<Void, Never>
    }

    private var calls: [Peer.ID: Call] = [:]
    private var absences: [Peer.ID: Task<Void, Never>] = [:]
    private var isStopping = false
    private var result: PipeEnd?
    private var waiting: CheckedContinuation<PipeEnd, Never>?

    init(
        _ endpoint: MeshEndpoint, kind: PipeKind, patience: Duration,
        show: @escaping @Sendable (PipeEvent) -> Void, makeRunner: @escaping @Sendable (PipeSession) -> PipeRunner
    ) {
        (self.endpoint, self.kind, self.patience) = (endpoint, kind, patience)
        (self.show, self.makeRunner) = (show, makeRunner)
    }

    /// Waits for callers, and serves them. Returns when the only caller's session has ended, or after `interrupt`.
    func run(on manager: BearerManager) async throws -> PipeEnd {
        let events = try await endpoint.events
        let reading = Task {
            for await event in events { await self.received(event) }
        }
        do {
            try await endpoint.host(on: manager)
        } catch {
            await endpoint.stop()
            throw error
        }
        let end = await untilEnded()
        for call in calls.values { await call.running.value }
        await endpoint.flush()
        await endpoint.stop()
        await reading.value
        for absence in absences.values { absence.cancel() }
        return end
    }

    /// The bytes that all running sessions have transferred so far.
    var progress: PipeProgress {
        get async {
            var sum = PipeProgress()
            for call in calls.values { sum += await call.runner.progress }
            return sum
        }
    }

    /// The first failure of a file here.
    var fault: PipeFault? {
        get async { await calls.values.first?.runner.fault }
    }

    /// A person has stopped the program.
    func interrupt() async {
        isStopping = true
        for call in calls.values { await call.runner.interrupt() }
        if calls.isEmpty || kind == .socket { end(.interrupted) }
    }

    private func untilEnded() async -> PipeEnd {
        if let result { return result }
        return await withCheckedContinuation { waiting = $0 }
    }

    private func end(_ end: PipeEnd) {
        guard result == nil else { return }
        result = end
        waiting?.resume(returning: end)
        waiting = nil
    }

    // MARK: Events of links

    private func received(_ event: EndpointEvent) async {
        guard case .link(_, let event) = event else { return }
        switch event {
        case .connected(let peer):
            absences.removeValue(forKey: peer.id)?.cancel()
            show(.connected(peer))
        case .received(let message):
            await received(message)
            await endpoint.accept(upTo: message)
        case .ended(let peer, .replaced): absences.removeValue(forKey: peer.id)?.cancel()
        case .ended(let peer, .goodbye), .ended(let peer, .left):
            show(.left(peer))
            await calls[peer.id]?.runner.otherLeft(isLost: false)
        case .ended(let peer, _):
            show(.lost(peer))
            waitForReturn(of: peer.id)
        default: break
        }
    }

    private func waitForReturn(of peer: Peer.ID) {
        guard let runner = calls[peer]?.runner else { return }
        absences[peer]?.cancel()
        absences[peer] = Task { [patience] in
            try? await Task.sleep(for: patience)
            if !Task.isCancelled { await runner.otherLeft(isLost: true) }
        }
    }

    private func received(_ message: ReceivedMessage) async {
        let peer = message.peer
        guard case .hello(let session, let kind)? = PipeFrame(message.body) else {
            guard let call = calls[peer] else { return await refuse(peer, .restarted) }
            return await call.runner.received(message.body)
        }
        // The caller has restarted with the same identity, so its former session is incomplete.
        if let call = calls[peer], call.session != session { await call.runner.otherLeft(isLost: false) }
        guard kind == self.kind else { return await refuse(peer, .otherKind) }
        guard !isStopping, kind == .socket || calls.isEmpty else { return await refuse(peer, .busy) }
        answer(peer, session)
    }

    private func refuse(_ peer: Peer.ID, _ why: PipeRefusal) async {
        await endpoint.trySend(PipeFrame.refuse(why).bytes, to: peer)
    }

    private func answer(_ peer: Peer.ID, _ session: [UInt8]) {
        let before = calls[peer]?.running
        let runner = makeRunner(PipeSession(answering: session, kind))
        let running = Task { [endpoint] in
            await before?.value
            let end = await runner.run { try await endpoint.send($0, to: peer) }
            self.ended(peer, session, end)
        }
        calls[peer] = Call(session: session, runner: runner, running: running)
    }

    private func ended(_ peer: Peer.ID, _ session: [UInt8], _ end: PipeEnd) {
        absences.removeValue(forKey: peer)?.cancel()
        guard kind == .socket else { return self.end(end) }
        if calls[peer]?.session == session { calls[peer] = nil }
    }
}
