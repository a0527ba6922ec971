// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// A complete node as one struct: the protocol, the features, reconnecting and what people see.
///
/// An event goes in, actions come out as data. The struct reads no clock, draws no random numbers and never awaits.
/// `NodeLoop` runs it for the actor `Node` and for the simulator, which perform the actions.
///
/// The rule of the step is: decide, write, then send, acknowledge and show. Events above the links are decided in
/// steps. The features decide, and their changes leave as one `write`. Results are sent, acknowledged and shown only
/// when the disk has them (`written`). Events that arrive during the write are queued for the next step. The links
/// themselves (handshakes, pings, acknowledgements) continue. So everything that was acknowledged or shown is still
/// true after a power cut.
public struct NodeCore: Sendable {
    /// An input of the node.
    public enum Event: Sendable {
        /// The radio hosts or scans for the first time, so the node is ready.
        case started
        /// A host or a relay is in range, or is heard again.
        case heard(HeardNode)
        /// A host that this node is linked to is heard on a better bearer than the link's.
        case better(Peer)
        /// A host or a relay is not heard any more.
        case unheard(Peer)
        /// The radio has a link without a channel yet. The peer is nil if the radio does not know the host.
        case reached(Peer?)
        /// The radio does not work, for this reason.
        case radioFailed(NetworkError)
        /// The radio works, possibly again.
        case radioRecovered
        /// The radio has repaired something without a person's help.
        case radioRepaired(Notice)
        /// The adapter's default parameters.
        case adapterTimed(AdapterTiming)
        /// The state of the broker that the node uses in addition to its radio.
        case broker(BrokerReport)
        /// A channel has opened.
        case opened(MeshCore.LinkID, Opening)
        /// A dial has ended without a channel. `refusal` is the reason, if the radio knows it.
        case dialFailed(Int, refusal: RefusalReason?)
        /// An SDU has arrived on a channel.
        case received([UInt8], on: MeshCore.LinkID)
        /// A channel has closed.
        case channelClosed(MeshCore.LinkID)
        /// A bearer that vouches for its peers has linked one, or the peer of such a link has a new name. No handshake
        /// follows.
        case joined(MeshCore.LinkID, Peer)
        /// Like `joined`, for a peer that claims to know the secret that the host asks for.
        case claimed(MeshCore.LinkID, Peer, JoiningSecret)
        /// The peer of a vouched link has sent a message. The node acknowledges it by this number when it is stored.
        case said(MeshMessage, number: UInt64, on: MeshCore.LinkID)
        /// A vouched link has ended.
        case left(MeshCore.LinkID, LinkEnd)
        /// The radio's data about a link, in response to `measure`.
        case measured(MeshCore.LinkID, rssi: Int?, LinkCondition?)
        /// The last `write` is on disk.
        case written
        /// The last `write` has failed.
        case writeFailed(NodeStoreError)
        /// An input from outside the network: a person, a player or a page.
        case input(NodeInput)
        /// The results of a guest's search.
        case found(SearchResults, for: Peer.ID)
        /// The file of a song's cover.
        case cover(Song.ID, path: String)
        /// Covers cannot be loaded, for this reason. The person is notified unless the failure is expected.
        case coverFailed(NetworkError, isExpected: Bool = false)
        /// Covers no longer fail for this reason.
        case coverRecovered(NetworkError)
        /// A song's cover in a size for the air, or nil for a song without one. The response to `makeCover`.
        case coverMade(Song.ID, SmallCover?)
        /// Time has passed: see `deadline`.
        case tick
        /// Checks that the node still takes steps. `answered` follows when all earlier events are decided.
        case asked(Int)
        /// The node must end. It sends goodbyes and writes its last state.
        case end
    }

    /// An open channel.
    public struct Opening: Sendable {
        /// Whether this node has dialled or was dialled.
        public var role: LinkRole
        /// Largest SDU that the peer accepts, in bytes.
        public var sendMTU: Int
        /// The dial that opened this channel; nil for an accepted channel.
        public var dial: Int?
        /// The identifier that the dialled host must prove, or the head of one.
        public var expected: Peer.ID?
        /// The flags that this host has advertised; nil if it was not heard.
        public var advertised: AdvertisedFlags?
        /// Why this node refuses the peer of this link; nil if it may be admitted.
        public var refusal: RefusalReason?
        /// The bearer of the channel; nil if unknown.
        public var bearer: BearerKind?
        /// The circuit of the link; nil for a direct channel.
        public var place: CircuitPlace?
        /// Random bytes for the link.
        public var entropy: MeshCore.Entropy

        /// Creates a direct channel.
        public init(
            _ role: LinkRole, sendMTU: Int, dial: Int? = nil, expected: Peer.ID? = nil,
            advertised: AdvertisedFlags? = nil, refusal: RefusalReason? = nil, bearer: BearerKind? = nil,
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

        /// Creates a link in a circuit that this node has dialled or that a peer has offered.
        public init(in place: CircuitPlace, dial: Int? = nil, expected: Peer.ID? = nil, entropy: MeshCore.Entropy) {
            self.init(
                place.host == nil ? .responder : .initiator, sendMTU: Limits.innerSDUBytes, dial: dial,
                expected: expected, entropy: entropy)
            self.place = place
        }
    }

    /// An output of the node, for its owner to perform.
    public enum Action: Sendable {
        /// Host or scan.
        case startRadio
        /// Stop scanning.
        case stopScanning
        /// Retry to make this node visible to guests.
        case retryRadio
        /// A link opened or closed. Legacy advertising stops at this point and must be restarted.
        case linksChanged
        /// Dial the host with this head. `expecting` is its identifier, or its head if the identifier is unknown.
        case dial(Int, head: Peer.ID, expecting: Peer.ID)
        /// Cancel this dial.
        case cancelDial(Int)
        /// Open a link in a circuit: send `opened` with random bytes. It must contain the dial and the expected peer,
        /// if any. `NodeLoop` does that.
        case openCircuit(CircuitPlace, dial: Int?, expecting: Peer.ID?)
        /// Advertise this node as a relay with this content; nil stops that.
        case relay(RelayNotice?)
        /// Advertise whether this host reserves its last slots for relays.
        case placesForRelays(Bool)
        /// A link has something to send. Call `nextSDU` until it returns nil.
        case wake(MeshCore.LinkID)
        /// Close a channel. With `afterFinalFrame`, send the remaining SDUs from `nextSDU` first.
        case close(MeshCore.LinkID, afterFinalFrame: Bool)
        /// Send a message to the peer of a vouched link.
        case deliver(MeshMessage, on: MeshCore.LinkID)
        /// The message with this number on a vouched link is stored.
        case acknowledge(UInt64, on: MeshCore.LinkID)
        /// A vouched link has ended or was refused. Nothing follows on it.
        case end(MeshCore.LinkID, LinkEnd)
        /// Ask the radio for a link's signal strength and condition. `measured` is the response.
        case measure(MeshCore.LinkID)
        /// Give the radio a note that the peer's radio has made about this link.
        case heed(MeshCore.LinkID, AirNote)
        /// Write this as one transaction. The response is `written` or `writeFailed`. Only one write is pending at a
        /// time.
        case write(StoreBatch)
        /// Retry failed downloads now, because the person has asked for it.
        case retryCovers
        /// Search the host's library. The response is `found`.
        case search(SearchRequest, for: Peer.ID)
        /// Load the covers of these visible songs. The song that plays comes first.
        case fetchCovers([Song])
        /// Make a song's cover small enough for the air. The response is `coverMade`. Only one request is pending at a
        /// time.
        case makeCover(Song.ID)
        /// Save a cover that was received over the air. The response is `cover` with the file.
        case keepCover(Song.ID, [UInt8])
        /// Send this to the node's displays.
        case show(NodeEvent)
        /// A peer has broken the protocol in this way. `count` is the number of such violations so far. For the log.
        case misbehaved(Misbehaviour, who: String, count: Int)
        /// A write has failed. `isFirst` is true for the first failure since the last success. For the log.
        case storeFailed(NodeStoreError, isFirst: Bool)
        /// The response to `asked` with this number.
        case answered(Int)
        /// A message could not be sent; for the log. `count` is the number of failures with this cause.
        case notSent(SendError, count: Int)
        /// The node must end, for this reason.
        case quit(ByeReason)
    }

    /// The data from which a node is created.
    public struct Configuration: Sendable {
        /// The node's description for people and programs.
        public var description: NodeDescription
        /// The node's key.
        public var identity: Identity
        /// The role in which the node starts.
        public var part: Part
        /// The stored data of earlier runs.
        public var contents: StoredNode
        /// The path to which a damaged database was moved; nil if there was no damage.
        public var setAside: String?
        /// The instant at which the node's time was zero, to compare its times with those of other clocks.
        public var origin: ContinuousClock.Instant
        /// A random number that spreads the pauses between dials.
        public var seed: UInt64

        /// Creates a configuration.
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

    /// The role in which a node starts.
    public enum Part: Sendable {
        /// A host with a library.
        case host(Hosting)
        /// A guest that joins the host with this name or identifier.
        ///
        /// If `wanted` is nil, it joins hosts that it has joined before. It joins any host if `joinsAny` is true or if
        /// it knows none. With `relays` it carries other nodes. With a `secret` it proves the secret to the host, and
        /// it joins only hosts that can prove the secret as well.
        case guest(wanted: String?, joinsAny: Bool = false, relays: Bool = false, secret: JoiningSecret? = nil)

        /// The node's role in its conversations.
        var role: LinkRole { if case .host = self { .responder } else { .initiator } }

        /// Whether the host accepts only bonded guests.
        var requiresBond: Bool { if case .host(let hosting) = self { hosting.requiresBond } else { false } }

        var relays: Bool { if case .guest(_, _, true, _) = self { true } else { false } }
    }

    private(set) var configuration: Configuration
    /// The protocol, the unwritten changes and the time.
    var context: NodeDecisions.Context
    var links = LinkTable()
    /// Links in circuits.
    var circuits = CircuitTable()
    /// The state that a guest behind relays expects.
    var relayedState = RelayedState()
    /// What a relay tells others.
    var duty = RelayDuty()
    /// Reserves slots of this node for relays.
    var places: Places
    /// The state that steps change. It returns to its value before the step if a write fails.
    var decisions: NodeDecisions
    var screen = NodeScreen()
    /// The radio's present activity.
    var activity = RadioActivity()
    /// The number of messages that could not be sent, by cause.
    var unsent: [SendError.Cause: Int] = [:]
    /// The rate of searches by guests in the circuits of each carrier link.
    var crowdSearches = RecentTable<MeshCore.LinkID, RateLimit>(limit: Limits.guests)
    /// Only at a host.
    var stateFeed: StateFeed?
    var coverServer = CoverServer()
    /// Only at a guest.
    var coverClient = CoverClient()

    /// Events that are queued for the next step.
    var waiting = Inbox()
    var writing: Step?
    /// The state on view is to be written when the acts of the step are performed.
    var writesView = false
    /// Reliable messages that no disk has taken yet, the oldest first.
    var held = HeldMessages()
    /// The last write error and the time of the next retry; nil if the disk works.
    var storeOutage: (error: NodeStoreError, retryAt: MeshInstant)?
    /// The radio has worked at least once. All steps wait for that.
    var hasStarted = false
    /// Limits the rate of a host's writes.
    var pace = RateLimit(perSecond: NodeLimits.writesPerSecond, burst: NodeLimits.writeBurst, now: .zero)
    /// The node is ending and decides nothing any more.
    var isQuitting = false
    /// The node has sent its goodbyes.
    var hasEnded = false
    private var actions: [Action] = []

    /// Creates a node that continues where an earlier run ended.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        places = Places(isHost: configuration.part.role == .responder)
        var mesh = MeshCore(
            identity: configuration.identity, name: configuration.description.peer.name,
            service: configuration.description.service, remembered: configuration.contents.remembered,
            holdsUntilStored: true, relays: configuration.part.relays)
        switch configuration.part {
        case .host(let hosting):
            mesh.takesCircuits = true
            mesh.admissionPolicy = AdmissionPolicy(
                pin: hosting.pin, invitations: configuration.contents.invitations,
                wallClockSeconds: hosting.wallClockSeconds)
        case .guest(_, _, _, let secret):
            mesh.secret = secret
            mesh.unanswered = UnansweredProofs(configuration.contents.unanswered)
        }
        var memory = NodeMemory(configuration.contents, configuration.description.service)
        decisions = NodeDecisions(configuration.part, configuration.description.peer, &memory)
        let route = Route(local: configuration.description.peer.id, configuration.part, seed: configuration.seed)
        context = NodeDecisions.Context(
            mesh: mesh, route: route, role: configuration.part.role, memory: memory, now: .zero)
        // Also while the first write is under way.
        keepOut()
    }

    // MARK: Events

    /// Handles an event. `now` is the owner's clock, which never goes back.
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
        case .dialFailed(let number, let refusal):
            follow { $0.dialFailed(number, refusal, $1) }
        case .written: written()
        case .writeFailed(let error): writeFailed(error)
        case .adapterTimed(let timing):
            activity.adapter = timing
            if hasStarted { showWhatChanged() }
        case .tick: tick()
        case .end: end()
        case .heard(let node): follow { $0.heard(node, $1) }
        case .better(let peer): follow { $0.heardOnBetterBearer(peer, $1) }
        case .unheard(let peer):
            context.route.unheard(peer.id)
            waiting.append(.event(event))
        case .reached(let peer):
            // One dial at a time is pending. bluetoothd may have forgotten the device meanwhile.
            guard let invited = context.route.dialled else { break }
            let host = peer ?? Peer(id: invited, name: "")
            show(.contact(Encounter(.heard, host, at: configuration.origin + context.now, by: .link)))
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
        checkInvariants()
        defer { actions = [] }
        return actions
    }

    /// The next SDU to send on a link, of at most `limit` bytes; nil if nothing is queued.
    public mutating func nextSDU(for id: MeshCore.LinkID, limit: Int, now: MeshInstant) -> ([UInt8], [Action])? {
        context.now = max(now, context.now)
        guard let (sdu, meshActions) = context.mesh.nextSDU(for: id, limit: limit) else { return nil }
        links.sent(sdu.count, on: id)
        apply(meshActions)
        step()
        holdCircuits()
        checkInvariants()
        defer { actions = [] }
        return (sdu, actions)
    }

    /// When `tick` is due. Decisions of steps wait while the disk is busy, even if they are late.
    public var deadline: MeshInstant? {
        let links = earliest(links.deadline(context.mesh), earliest(relaysDeadline, coversDeadline))
        return earliest(earliest(links, screen.deadline), stepDeadline)
    }

    /// When the next step is due, for queued events or for a timer.
    private var stepDeadline: MeshInstant? {
        guard hasStarted, writing == nil, !isQuitting else { return nil }
        let due = waiting.isEmpty ? earliest(timeIsUp, waiting.crowdDeadline) : context.now
        return due.map { max($0, nextStep) }
    }

    /// When something is due although nothing has happened.
    private var timeIsUp: MeshInstant? {
        earliest(earliest(decisions.deadline, context.route.stepDeadline), storeOutage?.retryAt)
    }

    /// Whether the node hosts.
    public var isHost: Bool { decisions.app.isHosting }

    /// Sets the addresses of the node's page before the node starts.
    public mutating func isShown(at http: String, door: String?, passengers: String? = nil) {
        configuration.description.http = http
        configuration.description.browserDoor = door
        configuration.description.passengers = passengers
    }

    /// Whether the node accepts more inputs of people and of the radio. Otherwise their sources must wait.
    public var hasRoom: Bool { waiting.hasRoom || isQuitting }

    /// Whether the next SDU of a link may be read.
    public func mayRead(_ id: MeshCore.LinkID, now: MeshInstant) -> Bool {
        isQuitting
            || !links.isHeld(id, now: now)
                && (waiting.full.isEmpty || context.mesh.peer(on: id).map { waiting.hasRoom(for: $0.id) } != false)
    }

    mutating func emit(_ action: Action) { actions.append(action) }

    mutating func show(_ event: NodeEvent) { actions.append(.show(event)) }

    private mutating func tick() {
        for id in links.due(context.mesh, now: context.now) {
            // While this side does not read, it cannot blame the peer for silence. A handshake always has a deadline.
            if !mayRead(id, now: context.now), context.mesh.peer(on: id) != nil {
                context.mesh.heardNothingByChoice(on: id, now: context.now)
            } else {
                apply(context.mesh.tick(id, now: context.now))
            }
        }
        for event in screen.tick(now: context.now) { show(event) }
        tickRelays()
        tickCovers()
        if let stepDeadline, stepDeadline <= context.now, let timeIsUp, timeIsUp <= context.now {
            waiting.append(.event(.tick))
        }
    }

    // MARK: From the start to the end

    /// The node is ready, and its initial state is on disk.
    mutating func begin() {
        show(.ready(configuration.description))
        if let path = configuration.setAside { tell(Notice(.storageDamaged(setAside: path))) }
        if context.memory.missingSongs > 0 { tell(Notice(.songsMissing(context.memory.missingSongs))) }
        if let host = decisions.app.host {
            stateFeed = StateFeed(host.snapshot, now: context.now)
            emit(.fetchCovers(host.snapshot.items.map(\.song)))
            show(.snapshot(host.snapshot, isStale: false))
            if !context.mesh.admissionPolicy.invitations.isEmpty { showInvitations() }
            if !decisions.shownBans.isEmpty { show(.bans(decisions.shownBans, isAnswer: false)) }
        }
        if let guest = decisions.app.guest {
            if let snapshot = guest.state.hostSnapshot { show(.snapshot(snapshot, isStale: true)) }
            if !decisions.known.hosts.isEmpty { show(.hosts(decisions.shownHosts, isAnswer: false)) }
            for wish in guest.state.elsewhere + guest.state.wishes { show(.wish(wish.songID, wish.kind, .queued)) }
            steer(.start)
        }
    }

    /// Sends goodbyes on all links and writes the full state.
    private mutating func end() {
        isQuitting = true
        hasEnded = true
        waiting.removeAll()
        perform(context.route.end())
        leaveAll(saying: isHost ? .stopped : .unspecified)
        context.memory.noteAll(decisions.app, now: context.now)
        emit(.write(context.memory.pending))
    }
}
