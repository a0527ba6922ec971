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
            if !people.screens[node].linked.insert(peer.id).inserted {
                broken(.outOfOrder, name, "\(peer) is there twice")
            }
            people.screens[node].isCurrent = false
            if node > 0 { clears(node, .linked) }
        case .peerDisconnected(let peer, let reason):
            note(node, 2, "is disconnected from \(peer): \(reason)")
            if people.screens[node].linked.remove(peer.id) == nil { broken(.outOfOrder, name, "\(peer) was not there") }
            people.screens[node].isCurrent = false
        case .connection(let state):
            note(node, 3, "connection: \(state)")
            // The person notices and tries again.
            if case .failed = state { retries(node, after: 1_000...3_000) }
        case .snapshot(let snapshot, let isStale): showsState(snapshot, isStale: isStale, node)
        case .wish(let song, let kind, let state):
            note(node, 5, "\(kind) of \(song): \(state)")
            people.screens[node].wishes[song] = (kind, state)
            guard state.isAnswer else {
                people.story.waits(nodes[node].peer, song, at: instant)
                break
            }
            if state == .confirmed { people.figures.confirmed += 1 } else { people.figures.rejected += 1 }
            people.wishes.answered(node, song, kind, state)
            report(
                people.story.answered(nodes[node].peer, song, kind, state, seeing: people.screens[node].snapshot), name)
        case .intent(let intent, let peer, let rejected):
            note(node, 6, "\(intent) of \(peer): \(rejected.map { "\($0)" } ?? "followed")")
            report(people.story.told(intent, of: peer.id), name)
        case .playback(let playback): people.screens[node].playing = playback.song?.id
        case .notice(let notice):
            note(node, 8, "notice \(notice.code)")
            people.screens[node].notices[notice.code] = (notice, instant)
            checkRefusal(notice, node)
            if notice.code == "sessionEnded" { checkEnd() }
        case .noticeCleared(let code):
            note(node, 9, "notice \(code) is cleared")
            people.screens[node].notices[code] = nil
        case .contact(let contact):
            if contact.phase == .lost, contact.silence == Limits.pongTimeout + Limits.pingInterval / 2 {
                people.silent = node
            }
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
        let before = people.screens[node].snapshot
        people.screens[node].snapshot = snapshot
        guard !isStale else { return }
        if node == 0 {
            people.screens[0].isCurrent = false
            return people.story.showed(snapshot, isKept: !people.screens[0].isWithoutStore, at: instant)
        }
        if !people.story.hasShown(snapshot) { broken(.wrongState, node, "state \(snapshot.revision)") }
        // The first state on a link is not older than the link. With relays, a link begins with the last full state,
        // which may be older. The later changes come with it, so no guest sees the old state (`docs/protocol.md`).
        if !people.screens[node].isCurrent {
            let least = hostState(atOpeningOfLinkOf: node)
            if scenario.reach == nil {
                checkAge(of: snapshot, notBefore: least, node)
            } else {
                people.screens[node].least = least
            }
        }
        // Later states come in order. Within a run of the host no guest sees the state go back, on any route.
        let follows = before.flatMap {
            people.screens[node].isCurrent || $0.epoch == snapshot.epoch ? StateVersion($0) : nil
        }
        checkAge(of: snapshot, notBefore: follows, node)
        people.screens[node].isCurrent = true
    }

    private mutating func checkAge(of snapshot: HostSnapshot, notBefore least: StateVersion?, _ node: Int) {
        guard let least, StateVersion(snapshot) < least else { return }
        broken(.staleUpdate, node, "state \(snapshot.revision) after \(least.revision)")
    }

    /// The host's state when the guest's current link opened. For a link in a circuit, when it was requested.
    private func hostState(atOpeningOfLinkOf node: Int) -> StateVersion? {
        let links = air.radios[node].links
        guard scenario.reach != nil else {
            return links.values.first { $0.isUp && !$0.isClosing }.flatMap { air.channels[$0.channel].stateAtOpen }
        }
        // After the guest has switched to another link, it may show a state that waited for its disk.
        guard let link = air.radios[node].linkOfWrite ?? hostLink(of: node) else { return nil }
        return links[link].flatMap { air.channels[$0.channel].stateAtOpen } ?? air.radios[node].stateAtOpen[link]
    }

    // MARK: After each event

    /// Checks that the shown state is on the disk.
    mutating func checkScreen(_ node: Int) {
        guard !nodes[node].isEnding else { return }
        if let snapshot = people.screens[node].snapshot {
            checkAge(of: snapshot, notBefore: people.screens[node].least, node)
        }
        people.screens[node].least = nil
        if node == 0 { checkHostScreen() } else { checkWishes(node) }
        for (code, entry) in people.screens[node].notices {
            guard let seconds = entry.notice.dismissAfter, instant - entry.since > .seconds(seconds) + .milliseconds(1)
            else { continue }
            broken(.wrongNotice, node, "\(code) goes by itself, and has not gone")
        }
    }

    private mutating func checkHostScreen() {
        guard let snapshot = people.screens[0].snapshot, !people.screens[0].isCurrent else { return }
        people.screens[0].isCurrent = true
        let record = nodes[0].disk.content.host ?? HostRecord(epoch: 0)
        guard people.screens[0].isWithoutStore else {
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
        guard nodes[0].disk.content.host?.epoch != people.screens[0].snapshot?.epoch else { return }
        broken(.toldTooEarly, "Car", "the end of its session is not on the disk")
    }

    /// Checks that a waiting wish is on the guest's disk, since its person was shown that it is saved.
    private mutating func checkWishes(_ node: Int) {
        let stored = nodes[node].disk.content.guest?.wishes ?? []
        for (song, wish) in people.screens[node].wishes where !wish.state.isAnswer {
            guard !stored.contains(where: { $0.songID == song && $0.kind == wish.kind.rawValue }) else { continue }
            broken(.toldTooEarly, node, "\(wish.kind) of \(song) is \(wish.state), and not on the disk")
        }
    }

    // MARK: Notices

    /// An event that clears notices was just reported. When the node has finished it, none of those notices may be
    /// left.
    private mutating func clears(_ node: Int, _ clearer: Problem.Clearer) { people.cleared.append((node, clearer)) }

    mutating func checkCleared() {
        // A peer that was lost again at once is reported again.
        for (node, clearer) in people.cleared where clearer != .linked || !people.screens[node].linked.isEmpty {
            let left = people.screens[node].notices.values.first { $0.notice.clearedBy.contains(clearer) }
            guard let left else { continue }
            broken(.wrongNotice, node, "\(left.notice.code) is on view after \(clearer)")
        }
        people.cleared = []
    }

    /// A write has succeeded.
    mutating func checkWritten(_ node: Int) {
        if node == 0, let (invariant, what) = people.story.leftOver() { broken(invariant, "Car", what) }
        clears(node, .written)
        checkCleared()
    }

    /// A write has failed. A notice must show this.
    mutating func checkRefused(_ node: Int) {
        guard nodes[node].core != nil, !people.screens[node].isWithoutStore else { return }
        broken(.wrongNotice, node, "the disk accepts no writes, and no notice is shown")
    }

    /// Guests are refused for a reason. If an attacker answers instead of the host, any reason is possible.
    private mutating func checkRefusal(_ notice: Notice, _ node: Int) {
        let isClean = !scenario.faults.contains(.impostor) && !scenario.faults.contains(.tamper)
        switch notice.code {
        case "kicked":
            guard isClean, !people.story.kicked.contains(nodes[node].peer) else { return }
            broken(.givenUp, node, "it is sent away, and the driver has not said so")
        case "hostFull", "refused", "versionMismatch", "proofRequired", "bondRequired":
            if isClean { broken(.givenUp, node, notice.code) }
        default: break
        }
    }
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
