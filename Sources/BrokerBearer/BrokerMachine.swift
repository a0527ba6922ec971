// SPDX-License-Identifier: Apache-2.0

import Bearers
import MeshProtocol

/// Decides the messages of a node to a broker, and handles the messages that arrive: nodes in range, calls and open
/// channels (`docs/protocol.md`, "Broker").
///
/// Any client of the broker, and the broker itself, can send any bytes. The reader of a channel must validate its
/// content.
struct BrokerMachine: Sendable {
    /// The events of the machine.
    enum Event: Sendable {
        /// The broker has accepted this node. `run` identifies the connection.
        case connected(run: [UInt8])
        /// The broker has granted the subscription to this filter.
        case granted(String)
        /// The connection has ended.
        case ended
        case arrived(topic: String, [UInt8])
        /// Advertise this from now on. Nil withdraws the advertisement.
        case advertise(Advertisement?)
        /// Report nodes of this service from now on. Nil stops reporting.
        case scan(ServiceUUID?)
        /// Open a channel to a node. The machine calls the node until `opened` or `giveUp`.
        case dial(Int, BrokerID)
        case giveUp(Int)
        /// This side has closed a channel.
        case closed(BrokerID)
        /// About a second has passed.
        case tick
    }

    /// The actions of the machine.
    enum Action: Hashable, Sendable {
        case subscribe(String)
        case publish(String, [UInt8], isRetained: Bool)
        case heard(BrokerID, Advertisement)
        case lost(BrokerID)
        /// Messages to this node arrive, so it can call and be called.
        case ready
        /// The broker has granted the subscription to this topic, but a message of this node on it has not come back.
        case silent(String)
        /// The node at this address has called.
        case accept(BrokerID, from: BrokerID)
        /// The dial has opened this channel.
        case opened(Int, BrokerID, to: BrokerID)
        case deliver([UInt8], in: BrokerID)
        /// The other side has closed the channel.
        case end(BrokerID)
        /// Reconnect, because the connection delivers no messages any more. If it never delivered any, `silent` is the
        /// filter without messages.
        case reconnect(silent: String?)
    }

    private struct Place: Sendable {
        var presence: BrokerPresence
        /// When the node was last reported; nil if it was not reported.
        var told: MeshInstant?
        /// Grows with each advertisement. A full table drops the entry with the lowest number.
        var order: Int
        /// The node was present during an earlier connection, and the present connection has not reported it yet.
        var isRecalled = false
    }

    private struct Channel: Sendable {
        var other: BrokerID
        /// The dial that awaits an answer.
        var dial: Int?
        var isDialled = false
        /// The called node's run at the time of the call. If the node reconnects, its advertisement may be missing for
        /// some time before its new run is known.
        var run: [UInt8] = []
        /// The time since which a caller has sent nothing after its call; nil once it has sent something.
        var answered: MeshInstant?

        var isOpen: Bool { dial == nil && answered == nil }
    }

    private struct Dial: Sendable {
        var other: BrokerID
        /// The channel of the last call, and the time of the call.
        var channel: BrokerID?
        var called: MeshInstant?
    }

    let own: BrokerID
    let topics: BrokerTopics
    /// The node is connected, and the broker has granted its inbox.
    private(set) var isReady = false
    /// Checks whether the node's messages to itself come back.
    private var echo = BrokerEcho()
    /// The time of the last received message, and the time of this node's message to itself since then.
    private var heard = MeshInstant.zero
    private var probed: MeshInstant?
    private var isConnected = false
    private var run: [UInt8] = []
    private var advertisement: Advertisement?
    /// When the advertisement was published last.
    private var published: MeshInstant?
    /// When to publish the advertisement as a retained message; nil if it is retained.
    private var keptFrom: MeshInstant?
    private let isCluster: Bool
    /// The nodes that were present when a connection to a cluster ended. They are kept until the next connection has
    /// had time to report them.
    private var remembered: [BrokerID: BrokerPresence] = [:]
    /// The time since which messages to this node arrive.
    private var readyAt = MeshInstant.zero
    private var scanned: ServiceUUID?
    /// The subscriptions. A node that was once searched for stays watched.
    private var filters: Set<String> = []
    private var places: [BrokerID: Place] = [:]
    private var lastOrder = 0
    private var channels: [BrokerID: Channel] = [:]
    private var dials: [Int: Dial] = [:]
    private var calls = RateLimit(
        perSecond: BrokerLimits.callsPerSecond, burst: BrokerLimits.callBurst, now: .zero)
    private var restores = RateLimit(
        perSecond: BrokerLimits.restoresPerSecond, burst: BrokerLimits.restoreBurst, now: .zero)

    /// Creates the machine of the node at this address. `isCluster` means that the broker has several servers.
    init(own: BrokerID, topics: BrokerTopics, isCluster: Bool = false) {
        (self.own, self.topics, self.isCluster) = (own, topics, isCluster)
    }

    /// Channels that are open or being called.
    var channelCount: Int { channels.count }
    /// Remembered nodes.
    var placeCount: Int { places.count }

    /// Handles an event. `random` must be a new number for each call.
    mutating func handle(_ event: Event, random: UInt64, now: MeshInstant) -> [Action] {
        switch event {
        case .connected(let run):
            (isConnected, self.run) = (true, run)
            return [.subscribe(topics.inbox(own))]
        case .granted(let filter): return granted(filter, random, now)
        case .ended: return ended()
        case .arrived(let topic, let payload):
            (heard, probed) = (now, nil)
            let subject = topics.subject(of: topic)
            return (echo.heard(subject, own: own) ? [.ready] : []) + arrived(subject, payload, random, now)
        case .advertise(let advertisement): return advertise(advertisement, now)
        case .scan(let service): return scan(service, now)
        case .dial(let number, let other):
            dials[number] = Dial(other: other)
            return call(number, random, now)
        case .giveUp(let number): return dials.removeValue(forKey: number).map { hangUp($0) } ?? []
        case .closed(let channel):
            channels[channel] = nil
            return []
        case .tick: return tick(random, now)
        }
    }

    // MARK: The connection

    private mutating func granted(_ filter: String, _ random: UInt64, _ now: MeshInstant) -> [Action] {
        if let advertisement, filter == topics.presence(advertisement.service, own), isReady {
            echo.granted(now: now)
            return []
        }
        guard filter == topics.inbox(own), isConnected, !isReady else { return [] }
        (isReady, readyAt, heard, probed) = (true, now, now, nil)
        echo = BrokerEcho(from: now, patience: BrokerLimits.echo + (isCluster ? BrokerLimits.election : .zero))
        // A cluster that has lost a server retains nothing until it has a leader, and delays all messages that follow a
        // retained one. This message is not retained, so that linked nodes learn of this node's new run immediately.
        if isCluster, published != nil { keptFrom = now + BrokerLimits.election }
        let watched = filters.sorted().map { Action.subscribe($0) }
        return watched + publish(now) + callAll(random, now) + [probe(random)]
    }

    /// Publishes a test message to this node: a value in an unknown channel. It comes back if messages to this node
    /// arrive.
    private func probe(_ random: UInt64) -> Action {
        .publish(topics.value(own, BrokerID(channel: random)), BrokerValue.answer, isRetained: false)
    }

    private mutating func ended() -> [Action] {
        (isConnected, isReady, echo) = (false, false, BrokerEcho())
        let gone = channels.filter { $0.value.isOpen }.keys.sorted().map { Action.end($0) }
        let unheard = places.filter { $0.value.told != nil }.keys.sorted().map { Action.lost($0) }
        for (address, place) in places where isCluster && remembered.count < BrokerLimits.places {
            remembered[address] = place.presence
        }
        (channels, places) = ([:], [:])
        for number in dials.keys { forgetCall(number) }
        return gone + unheard
    }

    /// Publishes the advertisement. The broker retains it, unless a cluster may have no leader at this time.
    private mutating func publish(_ now: MeshInstant) -> [Action] {
        guard isReady, let advertisement else { return [] }
        published = now
        echo.published(now: now)
        let isKept = keptFrom.map { now >= $0 } ?? true
        if isKept { keptFrom = nil }
        let payload = BrokerPresence(run: run, advertisement).payload
        return [.publish(topics.presence(advertisement.service, own), payload, isRetained: isKept)]
    }

    private mutating func advertise(_ new: Advertisement?, _ now: MeshInstant) -> [Action] {
        let old = advertisement
        advertisement = new
        if new == nil { echo.withdrawn() }
        var actions: [Action] = []
        if let old, old.service != new?.service, isReady {
            actions.append(.publish(topics.presence(old.service, own), [], isRetained: true))
        }
        // Through this subscription the broker reports if the advertisement is removed although this node has not
        // withdrawn it.
        if let new { actions += watch(topics.presence(new.service, own)) }
        return old == new ? actions : actions + publish(now)
    }

    private mutating func watch(_ filter: String) -> [Action] {
        guard filters.insert(filter).inserted, isReady else { return [] }
        return [.subscribe(filter)]
    }

    // MARK: Presence

    private mutating func scan(_ service: ServiceUUID?, _ now: MeshInstant) -> [Action] {
        scanned = service
        for place in places.keys { places[place]?.told = nil }
        return (service.map { watch(topics.presences($0)) } ?? []) + tell(now)
    }

    private mutating func tell(_ now: MeshInstant) -> [Action] {
        places.keys.sorted().compactMap { tell($0, now) }
    }

    private mutating func tell(_ address: BrokerID, _ now: MeshInstant) -> Action? {
        guard let place = places[address], place.presence.advertisement.service == scanned else { return nil }
        if let told = place.told, now - told < BearerLimits.scanResultRepeat { return nil }
        places[address]?.told = now
        return .heard(address, place.presence.advertisement)
    }

    private mutating func present(
        _ service: ServiceUUID, _ address: BrokerID, _ payload: [UInt8], _ random: UInt64, _ now: MeshInstant
    ) -> [Action] {
        guard address != own else { return restore(service, payload, now) }
        remembered[address] = nil
        guard let presence = BrokerPresence(payload, service: service, address: address) else {
            return payload.isEmpty ? absent(address, service) : []
        }
        var actions: [Action] = []
        let known = places[address]
        actions += restarted(address, run: presence.run)
        if known == nil, places.count >= BrokerLimits.places { forgetOldest() }
        lastOrder += 1
        let isNews = known?.presence.advertisement != presence.advertisement
        places[address] = Place(presence: presence, told: isNews ? nil : known?.told, order: lastOrder)
        if let told = tell(address, now) { actions.append(told) }
        for number in dials.filter({ $0.value.other == address && $0.value.channel == nil }).keys.sorted() {
            actions += call(number, random &+ UInt64(number), now)
        }
        return actions
    }

    /// Handles this node's own advertisement, as the broker delivers it. Republishes the advertisement if another one
    /// was delivered.
    private mutating func restore(_ service: ServiceUUID, _ payload: [UInt8], _ now: MeshInstant) -> [Action] {
        guard isReady, let advertisement, advertisement.service == service,
            payload != BrokerPresence(run: run, advertisement).payload, restores.allows(now: now)
        else { return [] }
        return publish(now)
    }

    private mutating func absent(_ address: BrokerID, _ service: ServiceUUID) -> [Action] {
        guard let place = places[address], place.presence.advertisement.service == service else { return [] }
        places[address] = nil
        return place.told == nil ? [] : [.lost(address)]
    }

    /// Handles a new connection of a called node: the channels of its former connection have ended.
    private mutating func restarted(_ address: BrokerID, run: [UInt8]) -> [Action] {
        let gone = channels.filter { $0.value.isDialled && $0.value.other == address && $0.value.run != run }
        for (id, channel) in gone {
            if let number = channel.dial { forgetCall(number) }
            channels[id] = nil
        }
        return gone.filter { $0.value.isOpen }.keys.sorted().map { .end($0) }
    }

    /// Assumes that the nodes of the last connection to a cluster are still present, although the present connection
    /// has not reported them. A cluster withholds retained messages from a node that subscribes at the wrong moment,
    /// and the other side repeats its advertisement once a minute. Nodes that have not repeated it by then are gone.
    private mutating func recall(_ now: MeshInstant) -> [Action] {
        guard isReady, now - readyAt >= BrokerLimits.retained else { return [] }
        for (address, presence) in remembered.sorted(by: { $0.key < $1.key }) where places[address] == nil {
            guard places.count < BrokerLimits.places else { break }
            lastOrder += 1
            places[address] = Place(presence: presence, told: nil, order: lastOrder, isRecalled: true)
        }
        remembered = [:]
        guard now - readyAt >= BrokerLimits.published + BrokerLimits.answer else { return [] }
        let gone = places.filter { $0.value.isRecalled }.keys.sorted()
        return gone.compactMap { places.removeValue(forKey: $0)?.told == nil ? nil : .lost($0) }
    }

    private mutating func forgetOldest() {
        guard let oldest = places.min(by: { $0.value.order < $1.value.order })?.key else { return }
        places[oldest] = nil
    }

    // MARK: Calling

    private mutating func callAll(_ random: UInt64, _ now: MeshInstant) -> [Action] {
        dials.keys.sorted().flatMap { call($0, random &+ UInt64($0), now) }
    }

    /// Calls a node that is present.
    private mutating func call(_ number: Int, _ random: UInt64, _ now: MeshInstant) -> [Action] {
        guard isReady, let dial = dials[number], dial.channel == nil else { return [] }
        let service = places[dial.other]?.presence.advertisement.service ?? scanned
        guard let service, let run = places[dial.other]?.presence.run else { return [] }
        let channel = BrokerID(channel: random)
        guard channels[channel] == nil else { return [] }
        channels[channel] = Channel(other: dial.other, dial: number, isDialled: true, run: run)
        dials[number]?.channel = channel
        dials[number]?.called = now
        let call = BrokerCall(service, by: own, channel: channel)
        return [.publish(topics.call(dial.other), call.payload, isRetained: false)]
    }

    private mutating func forgetCall(_ number: Int) {
        dials[number]?.channel = nil
        dials[number]?.called = nil
    }

    private mutating func hangUp(_ dial: Dial) -> [Action] {
        guard let channel = dial.channel, channels.removeValue(forKey: channel) != nil else { return [] }
        return [.publish(topics.value(dial.other, channel), BrokerValue.end, isRetained: false)]
    }

    private mutating func tick(_ random: UInt64, _ now: MeshInstant) -> [Action] {
        var actions = recall(now) + tell(now) + listen(random, now)
        let isDue = keptFrom.map { now >= $0 } ?? published.map { now - $0 >= BrokerLimits.published } ?? false
        if isDue { actions += publish(now) }
        // Drops callers that never existed or have gone.
        channels = channels.filter { $0.value.answered.map { now - $0 < BrokerLimits.answer } ?? true }
        for (number, dial) in dials.sorted(by: { $0.key < $1.key }) {
            if let called = dial.called, now - called < BrokerLimits.answer { continue }
            actions += hangUp(dial)
            forgetCall(number)
            actions += call(number, random &+ UInt64(number), now)
        }
        return actions
    }

    /// Checks whether messages to this node still arrive. The test message is a value in an unknown channel.
    private mutating func listen(_ random: UInt64, _ now: MeshInstant) -> [Action] {
        guard isReady else { return [] }
        if echo.lacksInbox(now: now) { return [.reconnect(silent: topics.inbox(own))] }
        var actions: [Action] = []
        if let advertisement, echo.lacksAdvertisement(now: now) {
            actions = [.silent(topics.presence(advertisement.service, own))]
        }
        guard now - heard >= BrokerLimits.quiet else { return actions }
        guard let probed else {
            probed = now
            return actions + [probe(random)]
        }
        return now - probed >= BrokerLimits.echo ? [.reconnect(silent: nil)] : actions
    }

    // MARK: Incoming messages

    private mutating func arrived(
        _ subject: BrokerTopics.Subject?, _ payload: [UInt8], _ random: UInt64, _ now: MeshInstant
    ) -> [Action] {
        switch subject {
        case .presence(let service, let address): present(service, address, payload, random, now)
        case .call(own): BrokerCall(payload).map { called($0, now) } ?? []
        case .value(own, let channel): value(payload, channel)
        case .call, .value, nil: []
        }
    }

    private mutating func called(_ call: BrokerCall, _ now: MeshInstant) -> [Action] {
        guard channels[call.channel] == nil, call.caller != own, isReady else { return [] }
        let answer = topics.value(call.caller, call.channel)
        guard advertisement?.service == call.service, hasRoom(for: call.caller), calls.allows(now: now) else {
            return [.publish(answer, BrokerValue.end, isRetained: false)]
        }
        channels[call.channel] = Channel(other: call.caller, answered: now)
        return [.publish(answer, BrokerValue.answer, isRetained: false)]
    }

    /// Whether a node may open one more channel. Calls without a value do not count, since any node can make them under
    /// the caller's address. The rate of calls bounds their number.
    private func hasRoom(for caller: BrokerID) -> Bool {
        let open = channels.values.filter { !$0.isDialled && $0.isOpen }
        return open.count < BrokerLimits.accepted
            && open.count { $0.other == caller } < BrokerLimits.acceptedOfAddress
    }

    private mutating func value(_ value: [UInt8], _ id: BrokerID) -> [Action] {
        guard let channel = channels[id], value.count <= BrokerLimits.valueBytes else { return [] }
        if channel.isOpen { return [.deliver(value, in: id)] }
        guard !BrokerValue.isEnd(value) else {
            // The called node has no room. This node calls it again after `BrokerLimits.answer`.
            channels[id] = nil
            if let number = channel.dial { dials[number]?.channel = nil }
            return []
        }
        guard channel.isDialled || hasRoom(for: channel.other) else {
            channels[id] = nil
            return [.publish(topics.value(channel.other, id), BrokerValue.end, isRetained: false)]
        }
        channels[id]?.dial = nil
        channels[id]?.answered = nil
        // A caller that sends a value has read the answer on the topic of its address, so its address is now proven.
        guard let number = channel.dial else { return [.accept(id, from: channel.other), .deliver(value, in: id)] }
        dials[number] = nil
        let heard = topics.value(channel.other, id)
        return [
            .publish(heard, BrokerValue.answer, isRetained: false), .opened(number, id, to: channel.other),
            .deliver(value, in: id),
        ]
    }
}
