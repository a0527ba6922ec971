// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The receivers of one message.
public enum Recipients: Hashable, Sendable {
    /// All connected peers.
    case all
    /// All connected peers except this one, such as the sender of a forwarded message.
    case allBut(Peer.ID)
}

extension MeshEndpoint {
    /// Sends a message to a peer, and waits while the peer's outbox is full. A peer can have several conversations; the
    /// most recently used one carries the message.
    ///
    /// A reliable message then waits for its acknowledgement in the outbox, across links. Throws
    /// `MeshCoreError.notConnected` for a peer that was never connected, `.tooLong`, `.sessionOver` after `stop`, and
    /// `CancellationError` if the task is cancelled while it waits. After an error the message is not sent.
    public func send(_ body: [UInt8], as messageClass: MessageClass = .reliable, to peer: Peer.ID) async throws {
        try await send(body, as: messageClass, to: peer, whileLinked: false)
    }

    /// Sends a message to several peers, and waits while the outbox of one of them is full. A peer that leaves in the
    /// meantime is skipped.
    ///
    /// Throws `MeshCoreError.tooLong`, `.sessionOver` after `stop`, and `CancellationError`.
    public func send(
        _ body: [UInt8], as messageClass: MessageClass = .reliable, to recipients: Recipients
    ) async throws {
        for peer in core.connectedPeers.sorted() {
            if case .allBut(peer) = recipients { continue }
            do {
                try await send(body, as: messageClass, to: peer, whileLinked: true)
            } catch MeshCoreError.notConnected {
                continue
            }
        }
    }

    /// Sends a message to a peer without waiting. A message does not overtake those that wait in `send`.
    @discardableResult
    public func trySend(
        _ body: [UInt8], as messageClass: MessageClass = .reliable, to peer: Peer.ID
    ) -> Conversation.Sending {
        guard !isStopped else { return .noLink }
        if messageClass == .reliable, waitingSends.wait(for: peer), body.count <= Limits.messageBytes { return .full }
        return attempt(body, as: messageClass, to: peer)
    }

    private func send(
        _ body: [UInt8], as messageClass: MessageClass, to peer: Peer.ID, whileLinked needsLink: Bool
    ) async throws {
        try Task.checkCancellation()
        guard !isStopped else { throw MeshCoreError.sessionOver }
        if needsLink, core.link(to: peer) == nil { throw MeshCoreError.notConnected }
        guard let error = MeshCoreError(trySend(body, as: messageClass, to: peer), bytes: body.count) else { return }
        guard error == .outboxFull else { throw error }
        let number = waitingSends.nextNumber()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (sender: CheckedContinuation<Void, any Error>) in
                // A cancelled task's handler may have run before this message waits.
                guard !Task.isCancelled else { return sender.resume(throwing: CancellationError()) }
                let message = WaitingSends.Message(number: number, body: body, needsLink: needsLink, sender: sender)
                waitingSends.append(message, to: peer)
            }
        } onCancel: {
            Task { await self.abandon(number, to: peer) }
        }
    }

    private func attempt(_ body: [UInt8], as messageClass: MessageClass, to peer: Peer.ID) -> Conversation.Sending {
        guard let key = core.lastConversation(with: peer) else { return .noLink }
        let (sending, actions) = core.send(body, as: messageClass, to: key)
        perform(actions)
        return sending
    }

    private func abandon(_ number: Int, to peer: Peer.ID) {
        for message in waitingSends.remove(for: peer, where: { $0.number == number }) {
            message.sender.resume(throwing: CancellationError())
        }
    }

    /// Returns when the connected peers have acknowledged all reliable messages, after `SessionLimits.flush`, or when
    /// the task is cancelled.
    public func flush() async {
        guard hasUnacknowledged else { return }
        let number = waitingSends.nextNumber()
        let alarm = Task {
            try? await Task.sleep(for: SessionLimits.flush)
            self.flushing.removeValue(forKey: number)?.resume()
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { flushing[number] = $0 }
        } onCancel: {
            alarm.cancel()
        }
        alarm.cancel()
    }

    private var hasUnacknowledged: Bool {
        core.connectedPeers.contains { peer in
            core.lastConversation(with: peer).flatMap { core.conversation($0) }.map { $0.unacknowledged > 0 } == true
        }
    }

    private func endFlush() {
        for waiting in flushing.values { waiting.resume() }
        flushing = [:]
    }

    /// Messages were acknowledged, or a link has ended.
    func checkFlush() { if !flushing.isEmpty, !hasUnacknowledged { endFlush() } }

    /// Sends waiting messages after an acknowledgement made room. The outboxes of all peers share a limit.
    func sendWaiting() {
        for peer in waitingSends.peers {
            while let message = waitingSends.first(for: peer) {
                let sending = attempt(message.body, as: .reliable, to: peer)
                guard sending != .full else { break }
                waitingSends.removeFirst(for: peer)
                if let error = MeshCoreError(sending, bytes: message.body.count) {
                    message.sender.resume(throwing: error)
                } else {
                    message.sender.resume()
                }
            }
        }
    }

    /// A peer's link has ended. Messages to all peers no longer wait for this peer.
    func skipWaiting(for peer: Peer.ID) {
        for message in waitingSends.remove(for: peer, where: \.needsLink) {
            message.sender.resume(throwing: MeshCoreError.notConnected)
        }
    }

    /// Fails all waiting messages. The endpoint sends no more.
    func endWaiting() {
        endFlush()
        for peer in waitingSends.peers {
            for message in waitingSends.remove(for: peer, where: { _ in true }) {
                message.sender.resume(throwing: MeshCoreError.sessionOver)
            }
        }
    }
}
