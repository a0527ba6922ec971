// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Attackers: those that dial the host, and one that answers instead of it.
extension World {
    /// Opens some channels to the host or to a relay, with attackers that send harmful data.
    mutating func intrude() {
        let relays = nodes.indices.filter { nodes[$0].advertisement.notice != nil }
        let target = relays.isEmpty || random.chance(50) ? 0 : random.pick(relays) ?? 0
        guard nodes[target].core != nil, air.radios[target].hasAdapter else { return }
        let flood = random.chance(20) ? random.pick(6...14) : 1
        for _ in 0..<flood {
            let intruder = intruder()
            let channel = open(intruder, .node(target, life: nodes[target].life))
            air.channels[channel].dialled = target
            trace("somebody dials \(nodes[target].name) on channel \(channel)")
            later(500...7_000) { $0.closes(channel, 0) }
        }
    }

    private mutating func intruder() -> Party {
        let part: HostileScript.Part
        switch random.below(7) {
        case 0: part = .says([])
        case 1: part = .says((0..<random.pick(1...5)).map { _ in random.bytes(random.pick(0...300)) })
        case 2: part = .says([[1, ProtocolVersion.major] + random.bytes(32)])
        case 3: part = .says([HostileFrames.ping(1), HostileFrames.message(1, body: [1]), HostileFrames.goodbye])
        case 4: part = .says(random.pick(air.recordings[0]) ?? [])
        default:
            let (frames, isMute) = misdeed()
            return script(.joins(frames: frames), epoch: isMute ? Self.muteEpoch : nil)
        }
        return script(part)
    }

    /// In this epoch an intruder that has joined sends only messages that must not be accepted.
    static let muteEpoch: UInt32 = 9

    /// The frames of an attacker that has joined, each the plaintext of a record. `isMute` means that none of them may
    /// be read, since they follow a violation or a goodbye.
    private mutating func misdeed() -> (frames: [[UInt8]], isMute: Bool) {
        let kind = random.below(11)
        return (misdeed(kind), kind == 1 || kind == 8)
    }

    private mutating func misdeed(_ kind: Int) -> [[UInt8]] {
        switch kind {
        // Circuits that no peer accepts, as many as fit, and data that belong to none.
        case 0:
            return [
                (0..<80).flatMap { HostileFrames.circuitOpen(UInt64($0)) } + HostileFrames.frame(13, [1, 2, 3])
                    + HostileFrames.frame(14, [1, 200]) + HostileFrames.frame(15, [1])
            ]
        case 1:
            return [
                HostileFrames.message(5, body: [9]) + HostileFrames.message(1, body: [1])
                    + HostileFrames.acknowledgement(Limits.largestNumber)
            ]
        case 2: return [HostileFrames.acknowledgement(UInt64(random.pick(1...1_000_000)))]
        case 3: return [HostileFrames.fragment(flags: 2, 65_536 + 1_000, random.bytes(30))]
        case 4:
            // Two incomplete messages of the maximum size.
            return [
                HostileFrames.fragment(flags: 2, 65_000, random.bytes(1_000)),
                HostileFrames.fragment(flags: 3, 65_000, random.bytes(1_000)),
            ]
        case 5:
            return [
                HostileFrames.fragment(flags: 2, 100, random.bytes(30)),
                HostileFrames.fragment(flags: 0, UInt64(random.pick(0...60)), random.bytes(30)),
            ]
        case 6:
            return (0..<6).map { record in (0..<300).flatMap { HostileFrames.ping(UInt64(record * 300 + $0)) } }
        case 7: return (1...40).map { HostileFrames.message(UInt64($0), body: [UInt8($0)]) }
        case 8: return [HostileFrames.goodbye + HostileFrames.message(1, body: [1]) + HostileFrames.ping(1)]
        case 9: return [Array(HostileFrames.message(1, body: [1, 2, 3]).dropLast(2))]
        default: return (0..<10).map { _ in random.bytes(random.pick(0...60)) }
        }
    }

    /// An attacker that answers a guest that has dialled the host.
    mutating func impostor() -> Party {
        let part: HostileScript.Part
        switch random.below(7) {
        case 0: part = .answers([random.bytes(random.pick(0...200))])
        case 1: part = .answers([[6, ProtocolVersion.major, UInt8(random.pick(0...7))]])
        case 2: part = .answers([[5] + random.bytes(96)])
        case 3: part = .echoes
        case 4: part = .says([])
        case 5: part = .answers(random.pick(air.recordings[1]) ?? [])
        default: part = .poses
        }
        return script(part)
    }

    private mutating func script(_ part: HostileScript.Part, epoch mute: UInt32? = nil) -> Party {
        let numbers: [UInt64] = [0, 1, 7, Limits.largestNumber]
        let mesh = nodes[random.below(nodes.count)].core?({ $0.mesh })
        let epoch = mesh?.lastConversation(with: air.mallory.peerID).flatMap { mesh?.conversation($0) }?.resumption
            .epoch
        let hello = HostileFrames.hello(
            epoch: mute ?? UInt32(random.pick(1...3)), first: max(1, random.pick(numbers) ?? 1),
            theirEpoch: epoch ?? UInt32(random.below(9)), delivered: random.pick(numbers) ?? 0,
            name: nodes[random.below(nodes.count)].name)
        air.scripts.append(
            HostileScript(part, identity: air.mallory, ephemeral: random.bytes(32), hello: hello))
        return .hostile(script: air.scripts.count - 1)
    }
}
