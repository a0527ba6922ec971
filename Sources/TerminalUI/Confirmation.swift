// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import MeshSession
import NodeCore

/// The line that confirms a typed command, unless an event or a notice does. Create it before the command is sent, and
/// get its lines when the node has handled the command.
struct Confirmation {
    private let input: NodeInput
    private let undo: Steering.Undo?
    private let bans: [ShownBan]
    private let hosts: KnownHosts
    private let host: Peer?

    /// The confirmation of an input that is about to be sent.
    init(_ input: NodeInput, _ screen: Screen) {
        self.input = input
        (undo, bans) = (screen.watch.steering?.undo, screen.watch.bans)
        (hosts, host) = (screen.watch.knownHosts, screen.watch.host)
    }

    /// The lines, perhaps none. `events` are the events since the command was sent. `screen` has shown them.
    func lines(_ events: [NodeEvent], _ screen: Screen, now: MeshInstant) -> [String] {
        let isAnswered = events.contains { if case .notice(let notice) = $0 { notice.isOfPerson } else { false } }
        guard !isAnswered else { return [] }
        if case .host(let command) = input { return hostLines(command, screen, now) }
        return text(events, screen).map { [screen.say($0)] } ?? []
    }

    // MARK: A host

    private func hostLines(_ command: HostFeature.Command, _ screen: Screen, _ now: MeshInstant) -> [String] {
        switch command {
        case .play, .pause, .skip, .previous, .seek:
            guard let text = screen.text(now) else { return [] }
            return [text.playing + (text.playingMarks.isEmpty ? "" : "  \(text.playingMarks)")]
        case .kick: return screen.isAnswer ? (kicked(screen.watch.steering?.undo)).map { [screen.say($0)] } ?? [] : []
        default: return text(command, screen).map { [screen.say($0)] } ?? []
        }
    }

    private func kicked(_ done: Steering.Undo?) -> LocalizedText? {
        guard case .kick(let name) = done else { return nil }
        return "\(UntrustedText.shown(name)) was kicked."
    }

    private func text(_ command: HostFeature.Command, _ screen: Screen) -> LocalizedText? {
        switch command {
        case .add(let songID):
            let place = screen.watch.snapshot?.queue.firstIndex { $0.id == songID }
            return place.map { "\(title(songID, screen)) is in the queue, at place \($0 + 1)." }
                ?? "\(title(songID, screen)) plays."
        case .unpin(let songID): return "Votes decide the place of \(title(songID, screen)) again."
        case .undo: return undone
        case .volume: return (screen.watch.steering?.volume).map { "The volume is \($0) %." }
        case .duck:
            switch screen.watch.steering?.ducked {
            case 0?: return "The music is as loud as before."
            case let decibels?: return "The music is \(decibels) dB quieter, until duck off."
            case nil: return nil
            }
        case .shuffle(true): return "Songs play in a random order while the queue is empty."
        case .shuffle(false): return "Songs play in their order while the queue is empty."
        // An event or a notice shows the result of these commands.
        case .choosePlaylist, .play, .pause, .skip, .previous, .seek, .search, .more, .remove, .kick, .playNext, .move,
            .clear, .noteBan,
            .unban:
            return nil
        }
    }

    private var undone: LocalizedText? {
        switch undo {
        case .remove(let title): "\(quoted(title)) is back in the queue."
        case .clear: "The queue is filled again."
        case .move(let title): "\(quoted(title)) is back at its place."
        case .kick(let name), .ban(let name): "\(UntrustedText.shown(name)) may join again."
        case nil: nil
        }
    }

    private func quoted(_ title: String) -> LocalizedText.Value { .localized("\"\(UntrustedText.shown(title))\"") }

    private func title(_ songID: Song.ID, _ screen: Screen) -> LocalizedText.Value {
        let known = screen.choice.library.first { $0.id == songID }?.title
        return known.map(quoted) ?? screen.watch.names.quoted(songID)
    }

    // MARK: Both

    private func text(_ events: [NodeEvent], _ screen: Screen) -> LocalizedText? {
        switch input {
        case .unban:
            let left = Set(screen.watch.bans.map(\.peer.id))
            let names = bans.filter { !left.contains($0.peer.id) }.map { ban in
                screen.watch.names.name(ban.peer.id) ?? UntrustedText.shown(ban.peer.name)
            }
            return names.first.map { $0.isEmpty ? "The guest may join again." : "\($0) may join again." }
        case .retry:
            // A notice shows that a guest is looking for its host.
            let isShown = events.contains { if case .notice = $0 { true } else { false } }
            if isShown { return nil }
            // A guest that is connected has nothing to try again.
            let isDismissed = events.contains { if case .noticeCleared = $0 { true } else { false } }
            return host != nil && isDismissed ? "The message is dismissed." : "Trying again."
        case .leave:
            return host.map { "You have left \($0.name). Type retry to look for it again." } ?? "You have left."
        case .join(let name): return "Looking for \(UntrustedText.shown(name))."
        case .joinInvited: return "Looking for the host of the invitation."
        case .forgetHost:
            let gone = hosts.hosts.first { !screen.watch.knownHosts.contains($0.id) }
            return gone.map { "\($0.name) is forgotten." }
        case .pin: return "The PIN is noted. The next host that asks for one gets it."
        case .guest(let wish): return asked(wish, events, screen)
        // An event or a notice shows the result of these inputs.
        case .host, .player, .library, .libraryAway, .playlist, .playlistFound, .invite, .ban, .bans, .appoint,
            .dismiss, .drivers,
            .hosts, .end,
            .notice, .cleared, .page, .clockSet, .mark, .quit:
            return nil
        }
    }

    // MARK: A guest

    private func asked(_ wish: GuestFeature.Event, _ events: [NodeEvent], _ screen: Screen) -> LocalizedText? {
        let isTold = events.contains { if case .wish = $0 { true } else { false } }
        switch wish {
        case .vote(let songID): return isTold ? nil : "You have voted for \(title(songID, screen)) already."
        case .takeBackVote(let songID): return isTold ? nil : "You have no vote for \(title(songID, screen))."
        case .suggest(let songID): return isTold ? nil : "You have asked for \(title(songID, screen)) already."
        case .skip:
            let steers = screen.watch.snapshot?.drivers.contains(screen.watch.node.peer.id) == true
            return steers ? "The host is asked to skip the song." : nil
        case .steer(.skip): return "The host is asked to skip the song."
        case .steer(.remove(let songID)): return "The host is asked to remove \(title(songID, screen))."
        case .steer(.move(let songID, let place)):
            return "The host is asked to put \(title(songID, screen)) at place \(place + 1)."
        case .steer(.kick(let peer)):
            let name = screen.watch.names.name(peer) ?? UntrustedText.shown(peer)
            return "The host is asked to kick \(name)."
        default: return nil
        }
    }
}
