// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Glibc
import MeshProtocol
import NodeCore

/// Converts a node's events into sentences for a person.
struct Sentences {
    /// The place where a person reads the sentences.
    enum Place {
        /// In a stream of lines: the queue is repeated when it changes, as often as people can read it.
        case lines
        /// Above a panel that shows the current state.
        case abovePanel
        /// The sentence appears on a terminal that a shell uses at the moment.
        case background
        /// The sentence is in the answer to one command of another program.
        case answer
    }

    let place: Place
    private(set) var language: Language
    /// The node's state.
    private(set) var watch: NodeWatch
    /// The queue that was shown last.
    private var last: HostSnapshot?
    private var queues = RateLimit(
        perSecond: TerminalLimits.queuesPerSecond, burst: TerminalLimits.queuesAtOnce, now: .zero)
    /// The queue has changed, and is shown as soon as the rate limit allows.
    private var owesQueue = false
    /// Links that are lost, and not reported yet.
    private var losses = HeldLosses()
    /// The number of the driver's steps that were shown.
    private var toldSteps = 0
    private let secrets: SecretsPlace
    private let picture: (@Sendable (String) -> [String]?)?

    /// `secrets` is where links, PIN and invitations are shown. `picture` draws a QR code with lines of text; nil means
    /// no picture.
    init(
        _ node: NodeDescription, _ place: Place, _ language: Language = .english,
        secrets: SecretsPlace = .output, picture: (@Sendable (String) -> [String]?)? = nil
    ) {
        watch = NodeWatch(node)
        self.secrets = secrets
        self.picture = picture
        self.place = place
        self.language = language
    }

    private func say(_ text: LocalizedText) -> String { language.text(text) }

    /// These sentences in another language.
    func speaking(_ language: Language) -> Sentences {
        var other = self
        other.language = language
        return other
    }

    private var role: NodeDescription.Role { watch.node.role }

    /// Stores the title of a song that the next sentence names.
    mutating func learn(_ song: Song?) { if let song { watch.learn([song]) } }

    /// Returns the lines for an event, perhaps none.
    mutating func lines(_ event: NodeEvent, now: MeshInstant) -> [String] {
        let before = watch.hosts
        _ = watch.handle(event, now: now)
        return switch event {
        case .ready(let node): greeting(node)
        // To a guest, a host with several routes is one host.
        case .peerDiscovered(let node) where role == .guest && before.contains { $0.id == node.host.id }: []
        case .peerLost(let peer, _) where role == .guest && watch.hosts.contains { $0.id == peer.id }: []
        case .peerDiscovered(let node): [heard(node)]
        case .peerLost(let peer, nil): [say("\(quoted(peer)) is not heard any more.")]
        case .peerLost(let peer, .some): [say("\(quoted(peer)) is not heard through a relay any more.")]
        case .peerConnected(let peer): losses.returns(peer) ? [] : joined(peer)
        case .peerDisconnected(let peer, let reason): farewell(peer, reason, now)
        case .connection(let state): lines(state)
        case .snapshot(let snapshot, _): lines(snapshot, now)
        // If linked, the wish is sent at once.
        case .wish(_, _, .queued) where watch.own.connection == .connected: []
        // The panel marks the wish in the queue.
        case .wish(_, _, .sent) where place == .abovePanel: []
        // A notice gives the reason, and what to do.
        case .wish(_, .suggest, .rejected): []
        case .wish(let songID, let kind, let state): [say(kind.text(state, title: watch.names.quoted(songID)))]
        case .searchResults(let found, let query): FoundText(found, query, place, language).lines
        case .intent(let intent, let peer, let rejected): lines(intent, peer, rejected)
        case .notice(let notice): told(notice)
        case .page(let url, let passengers):
            shown(PrivateLinks(controls: url, passengers: passengers, pin: nil))
        case .mark(let text): [say("Marked: \(text)")]
        // A notice reports it.
        case .pinGuessed: []
        case .broker(let report): lines(report)
        case .steering(let steering): lines(steering)
        case .invitation(let invitation): lines(invitation)
        case .bans(let bans, isAnswer: true): lines(bans)
        case .drivers(let drivers): lines(drivers: drivers)
        case .hosts(let hosts, isAnswer: true): lines(hosts)
        case .noticeCleared(code: Notice.outageCode): [say("The radio works again.")]
        case .hosts, .bans, .invitations, .noticeCleared, .link, .linkEnded, .artwork, .playback, .library, .contact,
            .radio:
            []
        case .bye where role == .scan: tree(watch.hosts)
        case .bye where owesQueue: queue(now) + lines(event, now: now)
        case .bye: [say("Bye.")]
        }
    }

    private mutating func told(_ notice: Notice) -> [String] {
        // The notice says that the host is lost, so its return will be shown too.
        if role == .guest, notice.critical { losses.forget() }
        return [Self.sentence(notice, language)]
    }

    /// A notice, with the command for its button; `isBare` omits the command for a place without buttons. The notice
    /// may contain a song's title, which comes from another device.
    static func sentence(_ notice: Notice, _ language: Language, isBare: Bool = false) -> String {
        let (message, advice) = notice.said(in: language)
        let suggestion = advice.map { " " + UntrustedText.shown($0) } ?? ""
        if isBare { return UntrustedText.shown(message) + suggestion }
        // The mark means that something is wrong. After a command that worked it is left out.
        let mark = notice.isOfPerson && !notice.isRefusal ? "" : "! "
        return "\(mark)\(UntrustedText.shown(message))\(suggestion)\(hint(notice.button))"
    }

    /// The command that does the same as a notice's button, in brackets. "OK" only dismisses the notice.
    static func hint(_ button: String?) -> String {
        switch button {
        case nil: ""
        case "OK": " [ok]"
        default: " [retry]"
        }
    }

    // MARK: Hosts in range

    /// The hosts, each with the relays that have a route to it.
    private func tree(_ hosts: [NodeView.HeardHost]) -> [String] {
        let count = say(hosts.count == 1 ? "1 host is in range" : "\(hosts.count) hosts are in range")
        guard hosts.contains(where: { !$0.relays.isEmpty }) else { return [count + "."] }
        return [count + ":"]
            + hosts.flatMap { host in
                ["  \"\(host.name)\"" + (host.hops > 0 ? ", " + say("through relays only") : strength(host.rssi))]
                    + host.relays.map(line)
            }
    }

    private func line(_ relay: NodeView.HeardRelay) -> String {
        let way = say("through relay \(relay.id) (\(way(relay.hops, hasRoom: relay.room)))")
        return "    " + way + strength(relay.rssi)
    }

    private func heard(_ node: HeardNode) -> String {
        let heard = say("Heard \(quoted(node.host))") + (wherefrom(node.bearer).map { ", " + $0 } ?? "")
        guard node.hops > 0 else { return heard + strength(node.rssi) + "." }
        let way = way(node.hops, hasRoom: node.hasRoom)
        return heard + ", " + say("through a relay (\(way))") + strength(node.rssi) + "."
    }

    /// The name of a bearer other than the air.
    private func wherefrom(_ bearer: BearerKind?) -> String? {
        switch bearer {
        case .lan: say("in the network")
        case .broker: say("through the broker")
        case .l2cap, .virtual, nil: nil
        }
    }

    private func lines(_ report: BrokerReport) -> [String] {
        if report.state == .connected { return [say("Connected to the broker.")] }
        // A notice reports failures.
        guard report.isHour, let sent = report.sent, let received = report.received else { return [] }
        return [say("In the last hour \(Self.kilobytes(sent + received)) KB went over the broker.")]
    }

    private static func kilobytes(_ bytes: UInt64) -> String { "\((bytes + 999) / 1_000)" }

    private func way(_ hops: Int, hasRoom: Bool) -> String {
        say(hops == 1 ? "1 hop" : "\(hops) hops") + (hasRoom ? "" : ", " + say("no room"))
    }

    private func strength(_ rssi: Int?) -> String { rssi.map { ", \($0) dBm" } ?? "" }

    // MARK: Steering

    /// The step that was just made and can be undone.
    private mutating func lines(_ steering: Steering) -> [String] {
        defer { toldSteps = steering.steps }
        guard let undo = steering.undo, steering.steps > toldSteps else { return [] }
        return switch undo {
        case .remove(let title): [say("\"\(title)\" was removed from the queue; type undo to put it back.")]
        case .clear: [say("The queue was cleared; type undo to restore it.")]
        case .move(let title): [say("\"\(title)\" has a new place; type undo to put it back.")]
        // The guest's departure is reported when it happens.
        case .kick, .ban: []
        }
    }

    // MARK: Joining and leaving

    private func greeting(_ node: NodeDescription) -> [String] {
        let page = shown(PrivateLinks(controls: node.http, passengers: node.passengers, pin: node.pin))
        switch node.role {
        case .host:
            let way: LocalizedText =
                node.pin.map {
                    secrets == .output ? "Guests join with the PIN \($0)." : "Guests join with a PIN."
                } ?? "Guests join automatically."
            let onAir = say("\(quoted(node.peer)) is on the air (\(node.radio)).")
            return [onAir + " " + say(way)] + page + [commands(node)]
        case .guest:
            let (name, radio, host) = (node.peer.name, node.radio, node.wantedHost.map { UntrustedText.shown($0) })
            let wanted = host.map { say("\(name) is looking for \"\($0)\" (\(radio)).") }
            return [wanted ?? say("\(name) is looking for a host (\(radio)).")] + page + [commands(node)]
        case .scan: return [say("Listening for hosts (\(node.radio)).")]
        }
    }

    /// The links, or their place if the output goes to a log.
    private func shown(_ links: PrivateLinks) -> [String] {
        guard case .file(let file) = secrets, links.hasSecret else { return links.links(in: language) }
        return [say("Private links and the PIN are in the file \(file). Only its owner can read it.")]
    }

    private func commands(_ node: NodeDescription) -> String {
        switch place {
        case .lines: say("Commands: \(CommandReader(node).commands.map { $0.usage() }.joined(separator: ", ")).")
        case .abovePanel: say("Type help for the commands; Ctrl-C stops.")
        case .answer: ""
        case .background: say("roadmesh runs in the background; fg brings back its commands.")
        }
    }

    private func joined(_ peer: Peer) -> [String] {
        [say(role == .host ? "\(peer.name) has joined." : "Joined \(quoted(peer)).")]
    }

    /// A guest's person sees a notice instead, which also says what to do.
    private mutating func farewell(_ peer: Peer, _ reason: DisconnectReason, _ now: MeshInstant) -> [String] {
        switch reason {
        case .linkLost, .replaced: losses.hold(peer, now: now)
        case .goodbye where role == .host: return [say("\(peer.name) has left.")]
        case .refused where role == .host:
            let isBanned = watch.bans.contains { $0.peer.id == peer.id && !$0.session }
            return [say(isBanned ? "\(peer.name) was banned." : "\(peer.name) was kicked.")]
        case .goodbye, .refused: break
        }
        return []
    }

    private func lines(_ state: ConnectionState) -> [String] {
        switch state {
        case .reconnecting(let attempt) where attempt > 1: [say("Trying again (attempt \(attempt))…")]
        case .connecting where last != nil: [say("Looking for a host…")]
        case .disconnected where last != nil: [say("Not connected.")]
        case .disconnected, .connecting, .connected, .reconnecting, .failed: []
        }
    }

    // MARK: Admission

    private func lines(_ hosts: [ShownHost]) -> [String] {
        guard !hosts.isEmpty else { return [say("You have not joined a host yet, and none is in range.")] }
        return [say("Hosts:")]
            + hosts.map { host in
                let said = [
                    host.joined ? say("connected") : host.known ? say("joined before") : nil,
                    host.other ? say("another host with this name") : nil,
                    host.inRange && !host.joined ? say("in range") : nil,
                ].compactMap(\.self)
                return "  \(UntrustedText.shown(host.peer.name)) (\(Identity.head(of: host.peer.id))): "
                    + said.joined(separator: ", ")
            }
    }

    private func lines(drivers: [Peer]) -> [String] {
        guard !drivers.isEmpty else {
            return [say("There are no co-hosts. To make one, type driver and a guest's name.")]
        }
        return [say("Co-hosts:")]
            + drivers.map { "  \(UntrustedText.shown($0.name)) (\(Identity.head(of: $0.id)))" }
    }

    private func lines(_ bans: [ShownBan]) -> [String] {
        guard !bans.isEmpty else { return [say("No guests are banned.")] }
        return [say("Banned:")]
            + bans.map { ban in
                let name = watch.names.name(ban.peer.id) ?? UntrustedText.shown(ban.peer.name)
                let who = "  \(name) (\(Identity.head(of: ban.peer.id))), "
                return who
                    + (ban.session
                        ? say("until the session ends")
                        : ban.until.map { say("until \(Self.date($0))") } ?? say("until you unban them"))
            }
    }

    /// The picture, if the terminal has room for it, and the text, which a camera cannot read.
    private func lines(_ invitation: OpenInvitation) -> [String] {
        let end = Self.date(invitation.until)
        if case .file(let file) = secrets {
            return [
                say(
                    invitation.once
                        ? "One guest can join with the new invitation in the file \(file), until \(end)."
                        : "Everybody can join with the new invitation in the file \(file), until \(end).")
            ]
        }
        return (picture?(invitation.picture) ?? []) + [
            say(
                invitation.once
                    ? "One guest can join with this invitation, until \(end):"
                    : "Everybody who has this invitation can join, until \(end):"),
            "  " + invitation.picture, say("On another device:"), "  roadmesh guest NAME --join \(invitation.argument)",
        ]
    }

    /// A time of this device's clock and time zone, in a form that is understood everywhere.
    static func date(_ seconds: UInt32) -> String {
        var (time, parts) = (time_t(seconds), tm())
        localtime_r(&time, &parts)
        var text = [CChar](repeating: 0, count: 20)
        strftime(&text, text.count, "%Y-%m-%d %H:%M", &parts)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    // MARK: The host's state

    /// The time at which delayed output is due (`overdue`): during many votes the queue is shown less often.
    var deadline: MeshInstant? {
        [owesQueue ? queues.opens(now: .zero) : nil, losses.deadline].compactMap(\.self).min()
    }

    /// The delayed output that is due now.
    mutating func overdue(now: MeshInstant) -> [String] {
        let lost = losses.due(now: now)
        let gone = role == .host ? lost.map { say("\($0.name) is out of reach.") } : []
        return gone + (owesQueue && queues.allows(now: now) ? queue(now) : [])
    }

    private mutating func lines(_ snapshot: HostSnapshot, _ now: MeshInstant) -> [String] {
        guard place == .lines else {
            last = snapshot
            return []
        }
        // Joins and departures were already shown.
        owesQueue =
            last?.queue != snapshot.queue || last?.nowPlaying != snapshot.nowPlaying
            || last?.isPlaying != snapshot.isPlaying
        return overdue(now: now)
    }

    /// Returns the current queue.
    private mutating func queue(_ now: MeshInstant) -> [String] {
        guard let snapshot = watch.snapshot else { return [] }
        (last, owesQueue) = (snapshot, false)
        let text = ViewText(view: watch.view(songs: TerminalLimits.shownSongs, now: now), language: language)
        let hidden = snapshot.queue.count - TerminalLimits.shownSongs
        return (watch.isStale ? [say("What you saw last:")] : []) + ["", text.playing, text.guests]
            + (snapshot.queue.isEmpty ? [text.emptyQueue] : [])
            + text.rows(atMost: TerminalLimits.shownSongs).map {
                "  \($0.number). [\($0.id)] \($0.song.whole)\($0.votes.map { "  \($0)" } ?? "")"
            }
            + (hidden > 0 ? ["  … " + say("and \(hidden) more")] : []) + [""]
    }

    // MARK: Wishes

    private func lines(_ intent: GuestIntent, _ peer: Peer, _ rejected: RejectionReason?) -> [String] {
        let title = watch.names.quoted(intent.songID ?? "")
        return switch (intent, rejected) {
        case (.steer(let wish), _): lines(wish, peer, title, rejected)
        case (.vote, nil): [say("\(peer.name) votes for \(title).")]
        case (.takeBackVote, nil): [say("\(peer.name) takes the vote for \(title) back.")]
        case (.suggestSong, nil): [say("\(peer.name) suggests \(title).")]
        case (.skip, nil): [say("\(peer.name) wants to skip \(title).")]
        // This is the same vote, sent again after a gap.
        case (_, .alreadyVoted), (_, .notVoted): []
        case (.skip, .some(let reason)): [say("\(peer.name) wants to skip \(title), but \(reason.why).")]
        case (_, .some(let reason)): [say("\(peer.name) asked for \(title), but \(reason.why).")]
        }
    }

    /// An action of a co-host.
    private func lines(
        _ wish: SteeringWish, _ peer: Peer, _ title: LocalizedText.Value, _ rejected: RejectionReason?
    ) -> [String] {
        if let rejected { return [say("\(peer.name) tried a co-host's command, but \(rejected.why).")] }
        return switch wish {
        case .skip: [say("\(peer.name) skips \(title).")]
        case .remove: [say("\(peer.name) removes \(title).")]
        case .move(_, let place): [say("\(peer.name) puts \(title) at place \(place + 1).")]
        // The guest's departure has a line of its own.
        case .kick: [say("\(peer.name) has kicked a guest.")]
        }
    }

    private func quoted(_ peer: Peer) -> LocalizedText { "\"\(peer.name)\"" }
}

extension Notice {
    /// Returns the text in a language, or in English without a translation.
    func said(in language: Language) -> (message: String, suggestion: String?) {
        guard let texts else { return (message, suggestion) }
        return (language.text(texts.message), texts.suggestion.map(language.text))
    }
}
