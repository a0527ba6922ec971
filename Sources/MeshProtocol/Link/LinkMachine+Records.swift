// SPDX-License-Identifier: Apache-2.0

/// Records, once there are keys (`docs/protocol.md`, "Records").
extension LinkMachine {
    /// A record has arrived.
    mutating func receivedRecord(_ record: ArraySlice<UInt8>, now: MeshInstant) -> [Action] {
        guard let plaintext = sealed?.open(record) else { return end(.misbehaved(.forgedRecord)) }
        if isRejoining, let remoteKey { phase = .answering(Identity.peerID(publicKey: remoteKey)) }
        guard case .confirming(let initiator) = phase else { return receivedFrames(plaintext[...], now: now) }
        return connect(initiator) + receivedFrames(plaintext[...], now: now)
    }

    /// A record's frames have arrived.
    mutating func receivedFrames(_ plaintext: ArraySlice<UInt8>, now: MeshInstant) -> [Action] {
        var reader = FrameReader(plaintext)
        var actions: [Action] = []
        // An empty record costs as much as a frame.
        var count = 1
        while !hasEnded, let next = reader.next() {
            // An answer behind too many frames in its record comes too late.
            let isTooLate = count > 1 && framesBeforeAnswer + count > Limits.framesBeforeAnswer
            guard connectedPeer != nil || !isTooLate else { break }
            count += 1
            switch next {
            case .frame(let frame): actions += received(frame, now: now)
            case .skipped: continue
            case .malformed: actions += end(.misbehaved(.malformedFrame))
            }
        }
        if !hasEnded, connectedPeer == nil {
            framesBeforeAnswer += count
            if framesBeforeAnswer > Limits.framesBeforeAnswer { actions += end(.misbehaved(.unexpectedFrame)) }
        }
        unfinishedSince = unfinishedBytes > 0 ? unfinishedSince ?? now : nil
        if !hasEnded, let until = rate.take(count, now: now) { actions.append(.holdReading(until: until)) }
        return actions
    }

    private mutating func received(_ frame: Frame, now: MeshInstant) -> [Action] {
        guard connectedPeer != nil else { return receivedWhileJoining(frame, now: now) }
        switch frame {
        case .refusal(let reason) where role == .initiator: return end(.refused(reason))
        case .message(let unit): return received(unit)
        case .fragment(let fragment): return received(fragment)
        case .acknowledgement(let number): return [.acknowledged(number)]
        case .ping(let number):
            control.enqueue(.pong(number))
            if let own = liveness.follow(now: now) { control.enqueue(.ping(own)) }
            return liveness.isAsked ? [.wake, .asked] : [.wake]
        case .pong(let number): return liveness.answered(number, now: now).map { [.roundTrip($0, ping: number)] } ?? []
        case .air(let note): return [.heed(note)]
        case .circuitOpen, .circuitData, .circuitCredit, .circuitClose: return [.circuit(frame)]
        case .route(let route) where role == .initiator: return [.route(route)]
        case .state(let names): return [.state(names)]
        case .makeRoom where role == .initiator: return [.askedForRoom]
        case .goodbye(let reason): return end(.goodbye(reason))
        case .appStart, .selfInfo, .refusal, .challenge, .proof, .route, .makeRoom:
            return end(.misbehaved(.unexpectedFrame))
        }
    }

    /// A unit is complete. A fragmented unit must have the class of its lane, or it would bypass the other lane's
    /// order.
    private mutating func received(_ bytes: ArraySlice<UInt8>, in lane: MessageClass? = nil) -> [Action] {
        guard let unit = MessageUnit(bytes) else { return end(.misbehaved(.malformedFrame)) }
        guard lane ?? unit.messageClass == unit.messageClass else { return end(.misbehaved(.badFragment)) }
        return [.received(unit)]
    }

    private mutating func received(_ fragment: Fragment) -> [Action] {
        switch reassemblers[fragment.lane]?.add(fragment) {
        case .complete(let unit): received(unit[...], in: fragment.lane)
        case .incomplete: []
        case .broken, nil: end(.misbehaved(.badFragment))
        }
    }

    // MARK: Sending

    /// The next SDU to send.
    struct Outgoing: Sendable {
        var sdu: [UInt8]
        /// Whether the record contains the last bytes of the last state update.
        var latestHasLeft = false
    }

    /// The next SDU, of at most this many bytes: a handshake packet, or a record that is as full as possible, since
    /// every SDU costs a credit and airtime. The link's own frames come first, then reliable messages, then circuits,
    /// so that a vote never waits behind a snapshot. If the circuits have left no room for the state in one record, the
    /// state precedes them in the next, since it contains what the nodes behind request in circuits. `circuits` returns
    /// frames of at most a given size.
    mutating func nextSDU(
        limit: Int, reliable: () -> MessageUnit? = { nil }, circuits: (Int) -> Frame? = { _ in nil },
        latest: () -> MessageUnit? = { nil }
    ) -> Outgoing? {
        if !packets.isEmpty { return Outgoing(sdu: packets.removeFirst()) }
        guard sealed != nil else { return nil }
        // The caller asks until nothing is left, and most SDUs are short, so no room is reserved.
        var plaintext = WireWriter()
        let room = limit - NoiseCipher.tagBytes
        while let frame = control.next(fitting: room - plaintext.bytes.count) { frame.write(into: &plaintext) }
        var latestHasLeft = false
        // The responder's answer must be the first frame.
        if connectedPeer != nil, control.answer == nil {
            fill(&plaintext, to: room, lane: .reliable, next: reliable)
            if latestGoesFirst { latestHasLeft = fill(&plaintext, to: room, lane: .latest, next: latest) }
            while let frame = circuits(room - plaintext.bytes.count) { frame.write(into: &plaintext) }
            let hadNoRoom = !latestGoesFirst && room - plaintext.bytes.count < Self.worthBeginning
            if !latestGoesFirst { latestHasLeft = fill(&plaintext, to: room, lane: .latest, next: latest) }
            latestGoesFirst = hadNoRoom
        } else if case .confirming = phase, earlyRecords < Limits.earlyRecords {
            if fill(&plaintext, to: room, lane: .latest, next: { nil }) { hasWelcomeLeft = true }
            if !plaintext.bytes.isEmpty { earlyRecords += 1 }
        }
        guard !plaintext.bytes.isEmpty || owesRecord, let sdu = sealed?.seal(plaintext.bytes) else { return nil }
        owesRecord = false
        return Outgoing(sdu: sdu, latestHasLeft: latestHasLeft)
    }

    /// Fills a record with a lane's units. Returns whether a unit was finished.
    @discardableResult
    private mutating func fill(
        _ plaintext: inout WireWriter, to room: Int, lane: MessageClass, next unit: () -> MessageUnit?
    ) -> Bool {
        var finished = false
        while true {
            if lanes[lane] == nil {
                // A unit that begins too late in a record would need another header for a few bytes.
                guard room - plaintext.bytes.count >= Self.worthBeginning, let unit = unit() else { return finished }
                lanes[lane] = Fragmenter(unit.bytes, lane: lane)
            }
            guard let frame = lanes[lane]?.next(fitting: room - plaintext.bytes.count) else { return finished }
            frame.write(into: &plaintext)
            guard lanes[lane]?.isDone == true else { return finished }
            lanes[lane] = nil
            finished = true
        }
    }

    private static let worthBeginning = 32
}
