// SPDX-License-Identifier: Apache-2.0

extension MeshCore {
    /// A link of a node: its machine, its circuits, and what the node keeps about it.
    struct Link: Sendable {
        var machine: LinkMachine
        var entropy: Entropy
        /// The peer that an initiator has dialled.
        var expected: Peer.ID?
        /// Why no peer is admitted on this link.
        var refusal: RefusalReason?
        /// The invitation that an initiator claims to have.
        var invitation: [UInt8]?
        /// The conversation on the link, once it is up.
        var conversation: ConversationKey?
        /// The number up to which this side has reported messages as received in its hello.
        var told: UInt64 = 0
        /// The flags that the responder advertises: this side's own, or those that were heard.
        var advertised: AdvertisedFlags?
        /// The owner has been notified of the answer, which is about to be sent.
        var isAdmitted = false
        /// A state update was sent with the answer (`welcome`).
        var isWelcomed = false
        /// The end of the link was reported. Nothing follows.
        var isOver = false
        /// Largest SDU that the other side accepts.
        var sendMTU: Int
        /// The circuits on the link.
        var circuits: CircuitMux
        /// The circuit of the link. Nil for a link with a channel of its own.
        var place: CircuitPlace?
        /// The state of a link between a relay and a node behind it. Nil for a link that carries a conversation.
        var carrier: Carrier?
        /// The peer's hello.
        var hello: Hello?
        /// The last states that an initiator has, by its own account, the newest first.
        var shown: [StateName] = []
        /// The time since which a reliable message waits for its acknowledgement, if silence alone would reveal a lost
        /// peer late.
        var waitsSince: MeshInstant?
        /// The link has ended for this side, which has moved to a better route. Its circuit stays until the other side,
        /// which has not noticed yet, closes it, at most until this time.
        var lingersUntil: MeshInstant?
        /// The entrance through which the link was made.
        var entrance = Entrance.air
        /// Whether the link's bytes cost money.
        var isMetered = false

        /// Whether both sides are silent for longer than on a usual direct link.
        var isQuiet: Bool { place != nil || isMetered || machine.liveness.isResting }

        /// The least silence of this side on the link.
        var leastSilence: Duration {
            if place != nil { return Limits.circuitSilence }
            if isMetered { return Limits.meteredSilence }
            return carrier == nil ? .zero : Limits.carrierSilence
        }

        /// Whether the peer accepts circuits and wants the signed state.
        var leadsToRelay: Bool { hello?.relays == true }

        /// When `tick` is due.
        var deadline: MeshInstant? {
            guard let deadline = machine.deadline else { return lingersUntil }
            return waitsSince.map { min(deadline, $0 + Limits.circuitPatience) } ?? deadline
        }

        /// The link is up, and carries this conversation. This node may be silent for `silence`.
        mutating func connected(_ key: ConversationKey, isCrowded: Bool, silence: Duration, now: MeshInstant) {
            conversation = key
            machine.rejoinSecret = nil
            machine.liveness.rest(silence: silence)
            if isCrowded { machine.liveness.bear(silence: Limits.crowdedSilence) }
            machine.liveness.begin(now: now)
            machine.liveness.isAsked = key.role == .initiator && isQuiet
        }

        /// The secret of the handshake to store, if both sides support this. The link is in a circuit.
        func rejoin(of peer: Peer, _ publicKey: [UInt8]) -> Rejoin? {
            guard let secret = machine.rejoinSecret, machine.role == .responder || hello?.rejoins == true else {
                return nil
            }
            return Rejoin(
                secret: secret, attempt: 0, publicKey: publicKey, name: peer.name, signingKey: hello?.signingKey)
        }

        /// The event that reports the end of the link.
        func event(for end: LinkEnd) -> LinkEvent {
            guard let peer = machine.peer, carrier != nil || conversation != nil else {
                let proved = machine.remoteKey.map { Identity.peerID(publicKey: $0) }
                return .failed(expected: expected, proved: proved, end)
            }
            return carrier != nil ? .carrierEnded(peer, end) : .ended(peer, end)
        }

        /// Adds the memory use of the link.
        func measure(_ footprint: inout Footprint) {
            let units = machine.reassemblers.values.reduce(0) { max($0, $1.byteCount) }
            footprint.reassemblyBytes = max(footprint.reassemblyBytes, units)
            if place != nil, machine.role == .responder { footprint.unfinishedBytes += machine.unfinishedBytes }
            let frames = machine.packets.count + machine.control.count
            if machine.hasEnded {
                footprint.lastFrames = max(footprint.lastFrames, frames)
            } else {
                footprint.ownFrames = max(footprint.ownFrames, frames)
            }
            footprint.circuits = max(footprint.circuits, circuits.count)
            footprint.circuitBytes += circuits.queuedBytes
            footprint.circuitFrames = max(footprint.circuitFrames, circuits.waitingFrames)
        }

        /// Updates the summary that is read for all links. It reads the link in place, since a copy of a link would
        /// cost more than all else. Names are written when they change, and not with each SDU.
        mutating func read(_ summary: inout LinkSlots.Summary) {
            (summary.isThere, summary.isOver) = (true, isOver)
            summary.deadline = deadline
            summary.isHalfOpen = machine.isHalfOpen
            summary.isResponder = machine.role == .responder
            summary.carrier = place?.carrier
            summary.entrance = entrance
            summary.unfinished = machine.role == .responder ? machine.unfinishedBytes : 0
            (summary.isCarrier, summary.leadsToRelay) = (carrier != nil, leadsToRelay && place == nil)
            summary.circuits = circuits.count
            if machine.isConnected != (summary.peer != nil) { summary.peer = machine.connectedPeer }
            if summary.conversation == nil { summary.conversation = conversation }
        }

        /// Whether a carrier has nothing to send. This also reads the link in place.
        mutating func hasNothing(_ log: SharedLog) -> Bool {
            machine.hasNothing && circuits.hasNothing && carrier?.hasNothing(of: log) != false
        }
    }
}
