// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import MeshSession
import NodeStore

/// A whole node as one struct: its protocol, its features, how it finds its way back, what people are told.
///
/// An event goes in, actions come out, as data. It reads no clock, draws no random number and waits for nothing: the actor
/// `Node` performs what comes out, and so does the simulator.
///
/// The law of the step is decide, write, then send, acknowledge and show. What has happened above the links is decided in
/// steps: the features decide, what they changed leaves as one `write`, and only when the disk has it (`written`) does
/// anything of it leave, is acknowledged or shown. What happens meanwhile waits for the next step; the links themselves
/// (handshakes, pings, acknowledgements) go on. So what somebody was told is still true after a power cut.
public struct NodeCore: Sendable {
    /// What happens to a node.
    public enum Event: Sendable {
        /// The radio hosts or scans for the first time: the node is ready.
        case started
        /// A host is in range, or is heard again, itself or through this relay: signal strength in dBm where the radio knows it,
        /// hops to it, whether this node speaks its version and knows what it asks for, whether that is a PIN, whether its last
        /// places are for relays, and the bearer.
        case heard(
            Peer, rssi: Int?, hops: Int, isUnderstood: Bool, via: HeardRelay? = nil, asksForPIN: Bool = false,
            placesForRelays: Bool = false, bearer: Bearer? = nil)
        /// A relay is in range, or is heard again.
        case heardRelay(RelayScanResult)
        /// A host that this node is linked to is heard on a better bearer than the link's.
        case better(Peer)
        /// A host or a relay that was heard is not heard any more.
        case unheard(Peer)
        /// The radio has a link without a channel on it yet; to this host, where it is known.
        case reached(Peer?)
        /// The radio does not work, and why.
        case radioFailed(NetworkError)
        /// The radio works (again).
        case radioRecovered
        /// The radio has repaired something by itself.
        case radioRepaired(Notice)
        /// What the adapter uses where nothing else is named.
        case adapterTimed(AdapterTiming)
        /// How the broker is that the node uses beside its radio.
        case broker(BrokerReport)
        /// A channel has opened.
        case opened(MeshCore.LinkID, Opening)
        /// A dial has ended without a channel. `refusal` is why, where the radio knows it.
        case dialFailed(Int, refusal: RefusalReason?)
        /// An SDU has arrived.
        case received([UInt8], on: MeshCore.LinkID)
        /// A channel is closed.
        case channelClosed(MeshCore.LinkID)
        /// A bearer that vouches for its peers has linked one, or one of its links has another name: no handshake follows.
        case joined(MeshCore.LinkID, Peer)
        /// The same, of one that claims to know what the host asks for.
        case claimed(MeshCore.LinkID, Peer, JoiningSecret)
        /// The peer of such a link says something, which is acknowledged by this number when it is safe.
        case said(MeshMessage, number: UInt64, on: MeshCore.LinkID)
        /// Such a link is over.
        case left(MeshCore.LinkID, LinkEnd)
        /// What the radio knows of a link: the answer to `measure`.
        case measured(MeshCore.LinkID, rssi: Int?, LinkCondition?)
        /// The disk has what the last `write` gave it.
        case written
        /// The disk does not take what the last `write` gave it.
        case writeFailed(NodeStoreError)
        /// Something comes from outside the air: a person, a player, a page.
        case input(NodeInput)
        /// A guest's search has led to this.
        case found(SearchResults, for: Peer.ID)
        /// A song's cover is in this file.
        case cover(Song.ID, path: String)
        /// Covers cannot be had, for this cause; where that is expected, nobody is told.
        case coverFailed(NetworkError, isExpected: Bool = false)
        /// None fails for this cause any more.
        case coverRecovered(NetworkError)
        /// A song's cover is small enough for the air, or it has none: the answer to `makeCover`.
        case coverMade(Song.ID, SmallCover?)
        /// Time has passed: see `deadline`.
        case tick
        /// Somebody asks whether the node still steps: `answered` comes when everything before is dealt with.
        case asked(Int)
        /// The node is to end: goodbyes leave, and the last state is written.
        case end
    }

    /// A channel that has opened.
    public struct Opening: Sendable {
        /// Who has dialled.
        public var role: LinkRole
        /// Largest SDU that the other side takes, in bytes.
        public var sendMTU: Int
        /// The dial that led here; nil for a channel that was accepted.
        public var dial: Int?
        /// The identifier, or the head of one, that the host which was dialled has to prove.
        public var expected: Peer.ID?
        /// The flags that this host has advertised; nil where it was not heard.
        public var advertised: AdvertisedFlags?
        /// Why nobody is taken in on this link.
        public var refusal: RefusalReason?
        /// What it goes over; nil where that is not known.
        public var bearer: Bearer?
        /// The circuit that the link is in; nil for a channel of its own.
        public var place: CircuitPlace?
        /// Random bytes for the link.
        public var entropy: MeshCore.Entropy

        /// A channel.
        public init(
            _ role: LinkRole, sendMTU: Int, dial: Int? = nil, expected: Peer.ID? = nil,
            advertised: AdvertisedFlags? = nil, refusal: RefusalReason? = nil, bearer: Bearer? = nil,
            entropy: MeshCore.Entropy
        ) {
            self.expected = expected
            self.advertised = advertised
            self.role = role
            self.sendMTU = sendMTU
            self.dial = dial
            self.refusal = refusal
            self.bearer = bearer
            self.entropy = entropy
        }

        /// A link in a circuit: one that this node asks for, by a dial of its own, or one that was offered.
        public init(in place: CircuitPlace, dial: Int? = nil, expected: Peer.ID? = nil, entropy: MeshCore.Entropy) {
            self.init(
                place.host == nil ? .responder : .initiator, sendMTU: Limits.innerSDUBytes, dial: dial,
                expected: expected, entropy: entropy)
            self.place = place
        }
    }

    /// What is to be done.
    public enum Action: Sendable {
        /// Host or scan.
        case startRadio
        /// Stop to scan.
        case stopScanning
        /// Ask the radio again to let guests find this node.
        case retryRadio
        /// A link came or went: legacy advertising stops then, and has to be asked for again.
        case linksChanged
        /// Dial the host with this head. `expecting` is its identifier, or its head where that is all that is known.
        case dial(Int, head: Peer.ID, expecting: Peer.ID)
        /// Give a dial up.
        case cancelDial(Int)
        /// Begin a link in a circuit: `opened` with random bytes, and with the dial and what it expects where there is one.
        case openCircuit(CircuitPlace, dial: Int?, expecting: Peer.ID?)
        /// Let others find this relay, with what it advertises now; nil: no longer.
        case relay(RelayNotice?)
        /// Say in what this host advertises that its last places are for nodes that relay, or no longer.
        case placesForRelays(Bool)
        /// A link has something to send: ask `nextSDU` until there is nothing more.
        case wake(MeshCore.LinkID)
        /// Close a channel; after what `nextSDU` still has, where it has a final frame.
        case close(MeshCore.LinkID, afterFinalFrame: Bool)
        /// Tell this to the peer of a link that its bearer vouches for.
        case deliver(MeshMessage, on: MeshCore.LinkID)
        /// What was said on such a link with this number is safe.
        case acknowledge(UInt64, on: MeshCore.LinkID)
        /// Such a link is over, or was never let in: nothing follows on it.
        case end(MeshCore.LinkID, LinkEnd)
        /// Ask the radio for a link's signal strength and condition: `measured`.
        case measure(MeshCore.LinkID)
        /// The radio at a link's other end says this of it.
        case heed(MeshCore.LinkID, AirNote)
        /// Write this as one transaction: `written` or `writeFailed`. One write at a time is asked for.
        case write(StoreBatch)
        /// Load again what could not be loaded from the web, now: the person asks for it.
        case retryCovers
        /// Look through the host's library: `found`.
        case search(SearchRequest, for: Peer.ID)
        /// These songs are on view, the one that plays first: have their covers at hand.
        case fetchCovers([Song])
        /// Make a song's cover small enough for the air: `coverMade`. One at a time is asked for.
        case makeCover(Song.ID)
        /// A song's cover has come over the air: it belongs into a file, which `cover` names.
        case keepCover(Song.ID, [UInt8])
        /// Tell those who show the node.
        case show(NodeEvent)
        /// A peer broke the protocol: which way, who, and how often somebody did so far. For the log.
        case misbehaved(Misbehaviour, who: String, count: Int)
        /// The disk takes nothing: for the log. It is the first time since it last took something.
        case storeFailed(NodeStoreError, isFirst: Bool)
        /// The question of this number has its answer.
        case answered(Int)
        /// The node is to end, for this reason.
        case quit(ByeReason)
    }

    /// What a node is made of.
    public struct Configuration: Sendable {
        /// What it is, as people and programs are told.
        public var description: NodeDescription
        /// Its key.
        public var identity: Identity
        /// What it begins as.
        public var part: Part
        /// What an earlier run has left.
        public var contents: StoredNode
        /// Where a database that was damaged has been put; nil where all is well.
        public var setAside: String?
        /// When the node's time was zero, for those who compare its times with others'.
        public var origin: ContinuousClock.Instant
        /// A random number: pauses between dials are spread by it.
        public var seed: UInt64

        /// A node's parts.
        public init(
            _ part: Part, _ description: NodeDescription, identity: Identity, contents: StoredNode,
            setAside: String? = nil, origin: ContinuousClock.Instant, seed: UInt64
        ) {
            self.part = part
            self.description = description
            self.identity = identity
            self.contents = contents
            self.setAside = setAside
            self.origin = origin
            self.seed = seed
        }
    }

    /// What a node begins as.
    public enum Part: Sendable {
        /// A host with a library.
        case host(Hosting)
        /// A guest that joins the host of this name or identifier. Where it is nil, it joins the hosts that it has joined before,
        /// or any with `joinsAny` and where there are none. It takes others along, where it relays. What it was told to
        /// prove, it proves, and joins nobody who cannot.
        case guest(wanted: String?, joinsAny: Bool = false, relays: Bool = false, secret: JoiningSecret? = nil)

        /// The side of its conversations that a node is.
        var role: LinkRole { if case .host = self { .responder } else { .initiator } }

        /// Whether it takes bonded guests only.
        var requiresBond: Bool { if case .host(let hosting) = self { hosting.requiresBond } else { false } }

        var relays: Bool { if case .guest(_, _, true, _) = self { true } else { false } }
    }

    private(set) var configuration: Configuration
    /// The protocol, what the disk does not have yet, and the time.
    var context: NodeDecisions.Context
    var links = LinkTable()
    var dials = Dials()
    /// The relays that were heard.
    var ways: Ways
    /// Looks for one that is there now, after a dial in vain.
    var freshLook: FreshLook?
    /// Looks for a better one than is up.
    var betterWay = BetterWay()
    var quietLoss = QuietLoss()
    /// Links in circuits, and what they go over.
    var circuits = CircuitTable()
    /// What a relay tells others.
    var duty = RelayDuty()
    /// Keeps places at this node for those that relay.
    var places: Places
    /// What is decided in steps: as it was before a step, where the disk does not take it.
    var decisions: NodeDecisions
    var screen = NodeScreen()
    /// What the radio does.
    var activity = RadioActivity()
    /// Searches of the guests in the circuits of a link.
    var crowdSearches = RecentTable<MeshCore.LinkID, RateLimit>(limit: Limits.guests)
    /// A host's.
    var stateFeed: StateFeed?
    var coverServer = CoverServer()
    /// A guest's.
    var coverClient = CoverClient()
    /// Spreads dials: nothing else depends on it.
    private var jitter: SeededGenerator

    /// What has happened and waits for its step.
    var waiting = Inbox()
    /// The step whose write is under way.
    var writing: Step?
    /// Reliable messages that no disk has taken yet, the oldest first.
    var held = HeldMessages()
    /// Why the disk took nothing, and when it is asked again; nil where it takes what it is given.
    var storeOutage: (error: NodeStoreError, retryAt: MeshInstant)?
    /// The radio works for the first time: until then everything waits.
    var hasStarted = false
    /// How closely a host's writes may follow one another.
    var pace = RateLimit(perSecond: NodeLimits.writesPerSecond, burst: NodeLimits.writeBurst, now: .zero)
    /// The node is to end: nothing is decided any more.
    var isQuitting = false
    /// It has said goodbye.
    var hasEnded = false
    private var actions: [Action] = []

    /// A node that goes on where an earlier run has ended.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        ways = Ways(local: configuration.description.peer.id, takesOthers: configuration.part.relays)
        places = Places(isHost: configuration.part.role == .responder)
        var mesh = MeshCore(
            identity: configuration.identity, name: configuration.description.peer.name,
            service: configuration.description.service, remembered: configuration.contents.remembered,
            holdsUntilStored: true, relays: configuration.part.relays)
        switch configuration.part {
        case .host(let hosting):
            mesh.takesCircuits = true
            mesh.door = Door(
                pin: hosting.pin, invitations: configuration.contents.invitations,
                wallClockSeconds: hosting.wallClockSeconds)
        case .guest(_, _, _, let secret):
            mesh.secret = secret
            mesh.unanswered = UnansweredProofs(configuration.contents.unanswered)
        }
        var memory = NodeMemory(configuration.contents, configuration.description.service)
        decisions = NodeDecisions(configuration.part, configuration.description.peer, &memory)
        context = NodeDecisions.Context(mesh: mesh, role: configuration.part.role, memory: memory, now: .zero)
        jitter = SeededGenerator(seed: configuration.seed)
        // Also while the first write is under way.
        keepOut()
    }

    // MARK: Events

    /// Takes an event. `now` is the owner's clock, which never goes back.
    public mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        context.now = max(now, context.now)
        switch event {
        case .started:
            hasStarted = true
            step([.event(event)])
        case .opened(let id, let opening): opened(id, opening)
        case .received(let sdu, let id):
            links.received(sdu.count, on: id)
            apply(context.mesh.received(sdu, on: id, now: context.now))
        case .channelClosed(let id):
            apply(context.mesh.channelClosed(id))
            links.closed(id)
        case .joined(let id, let peer): joined(id, peer)
        case .claimed(let id, let peer, let claim): joined(id, peer, claim)
        case .said(let message, let number, let id):
            guard let peer = links.vouched(on: id) else { break }
            waiting.append(.said(message, number, on: id, by: peer.id))
        case .left(let id, let end): left(id, end)
        case .measured(let id, let rssi, let condition): measured(id, rssi, condition)
        case .dialFailed(let number, let refusal): dialFailed(number, refusal)
        case .written: written()
        case .writeFailed(let error): writeFailed(error)
        case .adapterTimed(let timing):
            activity.adapter = timing
            if hasStarted { showWhatChanged() }
        case .tick: tick()
        case .end: end()
        case .heardRelay(let relay): heard(relay)
        case .heard(let peer, let rssi, _, let isUnderstood, _, let asksForPIN, let placesForRelays, _):
            dials.heard(
                peer, rssi: rssi, isUnderstood: isUnderstood, asksForPIN: asksForPIN, placesForRelays: placesForRelays)
            ways.heardHost(peer.id)
            mayBeJoined([Identity.head(of: peer.id)])
            waiting.append(.event(event))
            show(.contact(Contact(.heard, peer, at: configuration.origin + context.now, by: .sighting, rssi: rssi)))
        case .better(let peer): better(peer)
        case .unheard(let peer): unheard(peer)
        case .reached(let peer):
            // One dial at a time is pending. bluetoothd may have forgotten the device meanwhile.
            guard let invited = dials.pending else { break }
            let host = peer ?? Peer(id: invited, name: "")
            show(.contact(Contact(.heard, host, at: configuration.origin + context.now, by: .link)))
        case .coverMade(let songID, let cover): perform(CoverServer.Event.made(songID, cover))
        case .cover(let songID, _):
            if isHost { perform(CoverServer.Event.changed(songID)) }
            waiting.append(.event(event))
        case .radioFailed, .radioRecovered, .radioRepaired, .broker, .input, .found, .coverFailed, .coverRecovered,
            .asked:
            waiting.append(.event(event))
        }
        step()
        lookAtCovers()
        holdCircuits()
        defer { actions = [] }
        return actions
    }

    /// The next SDU that leaves on a link, of at most this many bytes; nil where there is nothing.
    public mutating func nextSDU(for id: MeshCore.LinkID, limit: Int, now: MeshInstant) -> ([UInt8], [Action])? {
        context.now = max(now, context.now)
        guard let (sdu, meshActions) = context.mesh.nextSDU(for: id, limit: limit) else { return nil }
        links.sent(sdu.count, on: id)
        apply(meshActions)
        step()
        holdCircuits()
        defer { actions = [] }
        return (sdu, actions)
    }

    /// When `tick` is due. What is decided in steps waits while the disk is busy, however late it is.
    public var deadline: MeshInstant? {
        let links = earliest(links.deadline(context.mesh), earliest(waysDeadline, coversDeadline))
        return earliest(earliest(links, screen.deadline), stepDeadline)
    }

    /// When a step is due: what has gathered meanwhile, or something although nothing has happened.
    private var stepDeadline: MeshInstant? {
        guard hasStarted, writing == nil, !isQuitting else { return nil }
        let due = waiting.isEmpty ? earliest(timeIsUp, waiting.crowdDeadline) : context.now
        return due.map { max($0, nextStep) }
    }

    /// When something is due although nothing has happened.
    private var timeIsUp: MeshInstant? { earliest(decisions.deadline, storeOutage?.retryAt) }

    /// Whether the node hosts.
    public var isHost: Bool { decisions.app.isHosting }

    /// Says where the node's page is, before it starts.
    public mutating func isShown(at http: String, door: String?, passengers: String? = nil) {
        configuration.description.http = http
        configuration.description.browserDoor = door
        configuration.description.passengers = passengers
    }

    /// The songs that a host has.
    public var library: SongLibrary? { decisions.app.host?.library }

    /// Whether the node takes more of what people and the radio have for it: who feeds it waits otherwise.
    public var hasRoom: Bool { waiting.hasRoom || isQuitting }

    /// Whether the next SDU of a link may be read.
    public func mayRead(_ id: MeshCore.LinkID, now: MeshInstant) -> Bool {
        isQuitting
            || !links.isHeld(id, now: now)
                && (waiting.full.isEmpty || context.mesh.peer(on: id).map { waiting.hasRoom(for: $0.id) } != false)
    }

    mutating func emit(_ action: Action) { actions.append(action) }

    mutating func show(_ event: NodeEvent) { actions.append(.show(event)) }

    /// A number from 0 to 1.
    mutating func nextJitter() -> Double { jitter.fraction() }

    private mutating func tick() {
        for id in links.due(context.mesh, now: context.now) {
            // While this side does not read, the other's silence is ours. A handshake is never excused: it has a deadline.
            if !mayRead(id, now: context.now), context.mesh.peer(on: id) != nil {
                context.mesh.heardNothingByChoice(on: id, now: context.now)
            } else {
                apply(context.mesh.tick(id, now: context.now))
            }
        }
        for event in screen.tick(now: context.now) { show(event) }
        tickWays()
        tickCovers()
        if let stepDeadline, stepDeadline <= context.now, let timeIsUp, timeIsUp <= context.now {
            waiting.append(.event(.tick))
        }
    }

    // MARK: From the start to the end

    /// The node is ready, and the disk knows what it begins with.
    mutating func begin() {
        show(.ready(configuration.description))
        if let path = configuration.setAside { tell(Notice(.storageDamaged(setAside: path))) }
        if context.memory.missingSongs > 0 { tell(Notice(.songsMissing(context.memory.missingSongs))) }
        if let host = decisions.app.host {
            stateFeed = StateFeed(host.snapshot, now: context.now)
            emit(.fetchCovers(host.snapshot.items.map(\.song)))
            show(.snapshot(host.snapshot, isStale: false))
            if !context.mesh.door.invitations.isEmpty { showInvitations() }
            if !decisions.shownBans.isEmpty { show(.bans(decisions.shownBans, isAnswer: false)) }
        }
        if let guest = decisions.app.guest {
            if let snapshot = guest.state.hostSnapshot { show(.snapshot(snapshot, isStale: true)) }
            if !decisions.policy.known.hosts.isEmpty { show(.hosts(decisions.shownHosts, isAnswer: false)) }
            for wish in guest.state.elsewhere + guest.state.wishes { show(.wish(wish.songID, wish.kind, .queued)) }
            steer(.start)
        }
    }

    /// Everybody hears a goodbye, and the disk gets everything.
    private mutating func end() {
        isQuitting = true
        hasEnded = true
        waiting.removeAll()
        for number in dials.cancelAll() { emit(.cancelDial(number)) }
        leaveAll(saying: isHost ? .stopped : .unspecified)
        context.memory.noteAll(decisions.app, now: context.now)
        emit(.write(context.memory.pending))
    }
}
