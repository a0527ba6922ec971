// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// Checks that the screens show the truth.
extension World {
    mutating func shows(_ event: NodeEvent, _ node: Int) {
        let name = nodes[node].name
        switch event {
        case .peerConnected(let peer):
            note(node, 1, "is connected to \(peer)")
            if !nodes[node].screen.linked.insert(peer.id).inserted {
                broken(.outOfOrder, name, "\(peer) is there twice")
            }
            nodes[node].screen.isCurrent = false
            if node > 0 { clears(node, .linked) }
        case .peerDisconnected(let peer, let reason):
            note(node, 2, "is disconnected from \(peer): \(reason)")
            if nodes[node].screen.linked.remove(peer.id) == nil { broken(.outOfOrder, name, "\(peer) was not there") }
            nodes[node].screen.isCurrent = false
        case .connection(let state):
            note(node, 3, "connection: \(state)")
            // The person notices and tries again.
            if case .failed = state { schedule(.retries(node: node), after: random.time(1_000...3_000)) }
        case .snapshot(let snapshot, let isStale): showsState(snapshot, isStale: isStale, node)
        case .wish(let song, let kind, let state):
            note(node, 5, "\(kind) of \(song): \(state)")
            nodes[node].screen.wishes[song] = (kind, state)
            guard state.isAnswer else {
                story.waits(nodes[node].peer, song, at: now)
                break
            }
            if state == .confirmed { figures.confirmed += 1 } else { figures.rejected += 1 }
            wishes.answered(node, song, kind, state)
            let finding = story.answered(
                nodes[node].peer, song, kind, state, seeing: nodes[node].screen.snapshot)
            if let (invariant, what) = finding { broken(invariant, name, what) }
        case .intent(let intent, let peer, let rejected):
            note(node, 6, "\(intent) of \(peer): \(rejected.map { "\($0)" } ?? "followed")")
            if let (invariant, what) = story.told(intent, of: peer.id) { broken(invariant, name, what) }
        case .playback(let playback): nodes[node].screen.playing = playback.song?.id
        case .notice(let notice):
            note(node, 8, "notice \(notice.code)")
            nodes[node].screen.notices[notice.code] = (notice, now)
            checkRefusal(notice, node)
            if notice.code == "sessionEnded" { checkEnd() }
        case .noticeCleared(let code):
            note(node, 9, "notice \(code) is cleared")
            nodes[node].screen.notices[code] = nil
        case .contact(let contact):
            if contact.phase == .lost, contact.silence == Limits.pongTimeout + Limits.pingInterval / 2 { silent = node }
        case .ready, .peerDiscovered, .peerLost, .searchResults, .artwork, .steering, .library,
            .page, .link, .linkEnded,
            .radio, .broker, .mark,
            .pinGuessed, .invitation, .invitations, .bans, .drivers, .hosts, .bye:
            break
        }
    }

    private mutating func note(_ node: Int, _ kind: Int, _ text: @autoclosure () -> String) {
        hash.add([100, node, kind])
        trace(node, text())
    }

    private mutating func showsState(_ snapshot: HostSnapshot, isStale: Bool, _ node: Int) {
        note(node, 4, "\(isStale ? "old " : "")state \(snapshot.revision): \(snapshot.words)")
        hash.add(Int(snapshot.revision))
        hash.add(snapshot.items.map(\.votes))
        let before = nodes[node].screen.snapshot
        nodes[node].screen.snapshot = snapshot
        guard !isStale else { return }
        if node == 0 {
            nodes[0].screen.isCurrent = false
            return story.showed(snapshot, isKept: !nodes[0].isWithoutStore, at: now)
        }
        if !story.hasShown(snapshot) { broken(.wrongState, nodes[node].name, "state \(snapshot.revision)") }
        // The first state on a link is not older than the link. With relays, a link begins with the last full state,
        // which may be older. The later changes come with it, so no guest sees the old state (`docs/protocol.md`).
        if !nodes[node].screen.isCurrent {
            let least = hostState(atOpeningOfLinkOf: node)
            if scenario.reach == nil {
                checkAge(of: snapshot, notBefore: least, node)
            } else {
                nodes[node].screen.least = least
            }
        }
        // Later states come in order. Within a run of the host no guest sees the state go back, on any route.
        let follows = before.flatMap {
            nodes[node].screen.isCurrent || $0.epoch == snapshot.epoch ? StateVersion($0) : nil
        }
        checkAge(of: snapshot, notBefore: follows, node)
        nodes[node].screen.isCurrent = true
    }

    private mutating func checkAge(of snapshot: HostSnapshot, notBefore least: StateVersion?, _ node: Int) {
        guard let least, StateVersion(snapshot) < least else { return }
        broken(.staleUpdate, nodes[node].name, "state \(snapshot.revision) after \(least.revision)")
    }

    /// The host's state when the guest's current link opened. For a link in a circuit, when it was requested.
    private func hostState(atOpeningOfLinkOf node: Int) -> StateVersion? {
        let links = nodes[node].links
        guard scenario.reach != nil else {
            return links.values.first { $0.isUp && !$0.isClosing }.flatMap { channels[$0.channel].stateAtOpen }
        }
        // After the guest has switched to another link, it may show a state that waited for its disk.
        guard let link = nodes[node].linkOfWrite ?? hostLink(of: node) else { return nil }
        return links[link].flatMap { channels[$0.channel].stateAtOpen } ?? nodes[node].stateAtOpen[link]
    }

    // MARK: After each event

    /// Checks that the shown state is on the disk.
    mutating func checkScreen(_ node: Int) {
        guard !nodes[node].isEnding else { return }
        if let snapshot = nodes[node].screen.snapshot {
            checkAge(of: snapshot, notBefore: nodes[node].screen.least, node)
        }
        nodes[node].screen.least = nil
        if node == 0 { checkHostScreen() } else { checkWishes(node) }
        for (code, entry) in nodes[node].screen.notices {
            guard let seconds = entry.notice.dismissAfter, now - entry.since > .seconds(seconds) + .milliseconds(1)
            else { continue }
            broken(.wrongNotice, nodes[node].name, "\(code) goes by itself, and has not gone")
        }
    }

    private mutating func checkHostScreen() {
        guard let snapshot = nodes[0].screen.snapshot, !nodes[0].screen.isCurrent else { return }
        nodes[0].screen.isCurrent = true
        let record = nodes[0].disk.host ?? HostRecord(epoch: 0)
        guard nodes[0].isWithoutStore else {
            let stored = record.queue.map {
                QueuedRecord(songID: $0.songID, addedBy: $0.addedBy, added: 0, voters: $0.voters)
            }
            let told = snapshot.items.map {
                QueuedRecord(songID: $0.id, addedBy: $0.addedBy, added: 0, voters: $0.voters)
            }
            if stored != told || record.epoch != snapshot.epoch || record.isPlaying != snapshot.isPlaying {
                broken(.toldTooEarly, "Car", "state \(snapshot.revision) is not on the disk")
            }
            return
        }
        // Without a disk the music continues, but no vote may count that could be forgotten.
        for item in snapshot.items {
            guard let stored = record.queue.first(where: { $0.songID == item.id }) else { continue }
            // The driver's own votes are not wishes, so no promise about them is checked.
            if !Set(item.voters).subtracting([nodes[0].peer]).isSubset(of: stored.voters) {
                broken(.toldTooEarly, "Car", "a vote for \(item.id) is shown, and not on the disk")
            }
        }
    }

    /// The driver sees the start of the next session only after the disk has it.
    private mutating func checkEnd() {
        guard nodes[0].disk.host?.epoch != nodes[0].screen.snapshot?.epoch else { return }
        broken(.toldTooEarly, "Car", "the end of its session is not on the disk")
    }

    /// Checks that a waiting wish is on the guest's disk, since its person was shown that it is saved.
    private mutating func checkWishes(_ node: Int) {
        let stored = nodes[node].disk.guest?.wishes ?? []
        for (song, wish) in nodes[node].screen.wishes where !wish.state.isAnswer {
            guard !stored.contains(where: { $0.songID == song && $0.kind == wish.kind.rawValue }) else { continue }
            broken(.toldTooEarly, nodes[node].name, "\(wish.kind) of \(song) is \(wish.state), and not on the disk")
        }
    }

    // MARK: Notices

    /// An event that clears notices was just reported. When the node has finished it, none of those notices may be
    /// left.
    private mutating func clears(_ node: Int, _ clearer: Problem.Clearer) { cleared.append((node, clearer)) }

    mutating func checkCleared() {
        // A peer that was lost again at once is reported again.
        for (node, clearer) in cleared where clearer != .linked || !nodes[node].screen.linked.isEmpty {
            let left = nodes[node].screen.notices.values.first { $0.notice.clearedBy.contains(clearer) }
            guard let left else { continue }
            broken(.wrongNotice, nodes[node].name, "\(left.notice.code) is on view after \(clearer)")
        }
        cleared = []
    }

    /// A write has succeeded.
    mutating func checkWritten(_ node: Int) {
        if node == 0, let (invariant, what) = story.leftOver() { broken(invariant, "Car", what) }
        clears(node, .written)
        checkCleared()
    }

    /// A write has failed. A notice must show this.
    mutating func checkRefused(_ node: Int) {
        guard nodes[node].core != nil, !nodes[node].isWithoutStore else { return }
        broken(.wrongNotice, nodes[node].name, "the disk accepts no writes, and no notice is shown")
    }

    /// Guests are refused for a reason. If an attacker answers instead of the host, any reason is possible.
    private mutating func checkRefusal(_ notice: Notice, _ node: Int) {
        let isClean = !scenario.faults.contains(.impostor) && !scenario.faults.contains(.tamper)
        switch notice.code {
        case "kicked":
            guard isClean, !story.kicked.contains(nodes[node].peer) else { return }
            broken(.givenUp, nodes[node].name, "it is sent away, and the driver has not said so")
        case "hostFull", "refused", "versionMismatch", "proofRequired", "bondRequired":
            if isClean { broken(.givenUp, nodes[node].name, notice.code) }
        default: break
        }
    }
}

extension SimulatedNode {
    /// Whether a notice shows that the disk accepts no writes.
    var isWithoutStore: Bool { screen.notices.values.contains { $0.notice.clearedBy.contains(.written) } }
}

extension WishState {
    /// Whether this is the final result.
    var isAnswer: Bool {
        switch self {
        case .queued, .sent: false
        case .confirmed, .rejected: true
        }
    }
}

extension HostSnapshot {
    /// The current and the queued songs with their numbers of votes.
    fileprivate var words: String { items.map { "\($0.id):\($0.votes)" }.joined(separator: " ") }
}
