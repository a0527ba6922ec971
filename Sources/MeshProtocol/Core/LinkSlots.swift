// SPDX-License-Identifier: Apache-2.0

/// The links of a node by their numbers, and the next one that is due.
///
/// A link is large, so it is read and changed in place. A host has a thousand of them in circuits, and asks for the
/// next deadline after each event. So a heap has the next deadline, and is updated with each change of a link.
struct LinkSlots: Sendable {
    typealias LinkID = MeshCore.LinkID

    /// The properties that are read for all links at once.
    struct Summary: Sendable {
        var isThere = false
        /// The link has ended for this side.
        var isOver = false
        var deadline: MeshInstant?
        var isHalfOpen = false
        var isResponder = false
        /// The link that carries the circuit of this link.
        var carrier: LinkID?
        /// The entrance through which the link was made.
        var entrance = Entrance.air
        /// This is a link between a relay and a node behind it.
        var isCarrier = false
        /// The peer accepts circuits and wants the signed state.
        var leadsToRelay = false
        /// The number of circuits on the link.
        var circuits = 0
        /// The peer at the other end of the link, once messages flow.
        var peer: Peer?
        /// The conversation on the link.
        var conversation: ConversationKey?
        /// Bytes of a guest's unfinished messages.
        var unfinished = 0
    }

    /// Nil for a free slot, and for a link that is taken out for a short time.
    private var slots: [MeshCore.Link?] = []
    private var summaries: [Summary] = []
    private var slotOf: [LinkID: Int] = [:]
    private var free: [Int] = []
    private var due = DueHeap()
    /// `Summary.unfinished` of the links in circuits on each link.
    private var unfinished: [LinkID: Int] = [:]

    /// A link, or nil.
    subscript(id: LinkID) -> MeshCore.Link? {
        _read {
            guard let slot = slotOf[id] else {
                yield nil
                return
            }
            yield slots[slot]
        }
        _modify {
            let slot = slotOf[id] ?? takeSlot(for: id)
            yield &slots[slot]
            settle(slot, id)
        }
    }

    /// Number of links.
    var count: Int { slotOf.count }

    /// The numbers of all links, in any order.
    var keys: some Collection<LinkID> { slotOf.keys }

    /// Adds the memory use of all links.
    func measure(_ footprint: inout Footprint) {
        (footprint.links, footprint.halfOpenLinks) = (count, halfOpen(inCircuits: false))
        for link in slots { link?.measure(&footprint) }
    }

    /// Takes a link out for a short time. It is put back by its number.
    mutating func take(_ id: LinkID) -> MeshCore.Link? { slotOf[id].flatMap { slots[$0].take() } }

    private mutating func takeSlot(for id: LinkID) -> Int {
        let slot = free.popLast() ?? slots.count
        if slot == slots.count {
            slots.append(nil)
            summaries.append(Summary())
        }
        slotOf[id] = slot
        return slot
    }

    /// Updates the summaries after a change of a link.
    private mutating func settle(_ slot: Int, _ id: LinkID) {
        let before = summaries[slot]
        defer { track(from: before, to: summaries[slot]) }
        guard slots[slot] == nil else {
            slots[slot]?.read(&summaries[slot])
            return due.set(summaries[slot].deadline, for: slot)
        }
        summaries[slot] = Summary()
        due.set(nil, for: slot)
        slotOf[id] = nil
        free.append(slot)
    }

    private mutating func track(from before: Summary, to after: Summary) {
        guard before.unfinished != after.unfinished || before.carrier != after.carrier else { return }
        if let carrier = before.carrier, before.unfinished > 0 {
            let left = unfinished[carrier, default: 0] - before.unfinished
            unfinished[carrier] = left > 0 ? left : nil
        }
        if let carrier = after.carrier, after.unfinished > 0 { unfinished[carrier, default: 0] += after.unfinished }
    }

    /// If the links in circuits on a carrier have too many unfinished bytes together, the one with the most.
    func greediest(over carrier: LinkID) -> LinkID? {
        guard unfinished[carrier, default: 0] > Limits.unfinishedBytes else { return nil }
        return slotOf.filter { summaries[$0.value].carrier == carrier }
            .max { (summaries[$0.value].unfinished, $0.key) < (summaries[$1.value].unfinished, $1.key) }?.key
    }

    /// The peer at the other end of a link, once messages flow.
    func peer(on id: LinkID) -> Peer? { slotOf[id].flatMap { summaries[$0].peer } }

    /// The conversation that a link carries.
    func conversation(on id: LinkID) -> ConversationKey? { slotOf[id].flatMap { summaries[$0].conversation } }

    /// The link that carries the circuit of a link.
    func carrier(of id: LinkID) -> LinkID? { slotOf[id].flatMap { summaries[$0].carrier } }

    /// Whether a link exists and has not ended.
    func goesOn(_ id: LinkID) -> Bool {
        guard let slot = slotOf[id], slots[slot] != nil else { return false }
        return !summaries[slot].isOver
    }

    /// Whether a link is one between a relay and a node behind it.
    func isCarrier(_ id: LinkID) -> Bool { slotOf[id].map { summaries[$0].isCarrier } ?? false }

    /// The frequently read properties of a link, or nil.
    func summary(of id: LinkID) -> Summary? { slotOf[id].map { summaries[$0] } }

    /// Whether a carrier has nothing to send. Other links are asked with `take`.
    mutating func isSilentCarrier(_ id: LinkID, _ log: SharedLog) -> Bool {
        guard let slot = slotOf[id], summaries[slot].isCarrier else { return false }
        return slots[slot]?.hasNothing(log) == true
    }

    /// Bytes of the smallest SDU that fits the next packet of a link, if that cannot be split.
    mutating func leastRoom(of id: LinkID) -> Int { slotOf[id].flatMap { slots[$0]?.leastRoom() } ?? 0 }

    /// The largest SDU of a circuit that fits a record of a link.
    func largestSDU(over id: LinkID) -> Int {
        min(Limits.innerSDUBytes, (self[id]?.sendMTU ?? 0) - Limits.sduBytes + Limits.innerSDUBytes)
    }

    /// The entrance of a link. A link in a circuit has the entrance of its carrier.
    func entrance(of id: LinkID) -> Entrance {
        guard let link = summary(of: id) else { return .air }
        return link.carrier.flatMap { summary(of: $0)?.entrance } ?? link.entrance
    }

    /// Whether the relay's updates follow this node's state of the host, so that nothing is repeated.
    func continuesState(on id: LinkID) -> Bool {
        guard let link = self[id], link.machine.role == .initiator, let carrier = link.place?.carrier else {
            return false
        }
        return self[carrier]?.carrier?.known.isEmpty == false
    }

    /// Whether this node has reported to the host of a link which states it has.
    func hasShownState(on id: LinkID) -> Bool { self[id]?.place == nil && self[id]?.shown.isEmpty == false }

    /// Whether part of an update has arrived from a relay, but not all of it.
    func isReceivingState(on carrier: LinkID) -> Bool {
        self[carrier]?.machine.reassemblers[.latest].map { $0.byteCount > 0 } == true
    }

    // MARK: Sending

    /// A link has data to send. Returns the link to wake: the carrier sends the data of a link in a circuit.
    mutating func wake(_ id: LinkID) -> LinkID {
        guard let circuit = self[id]?.place?.circuit else { return id }
        self[circuit.link]?.circuits.wake(circuit.number)
        return circuit.link
    }

    // MARK: Handshakes

    /// Accepted links with an unfinished handshake: those in circuits, or those with channels.
    func halfOpen(inCircuits: Bool) -> Int {
        summaries.count { $0.isHalfOpen && $0.isResponder && ($0.carrier != nil) == inCircuits }
    }

    /// Accepted links with channels of their own at an entrance, with an unfinished handshake.
    func halfOpen(at entrance: Entrance) -> Int {
        summaries.count { $0.isHalfOpen && $0.isResponder && $0.carrier == nil && $0.entrance == entrance }
    }

    /// Links in circuits on another link, with an unfinished handshake.
    func halfOpen(over carrier: LinkID) -> Int { summaries.count { $0.isHalfOpen && $0.carrier == carrier } }

    // MARK: Time

    /// Time of the next deadline of a link.
    var deadline: MeshInstant? { due.first }

    /// The links that are due, in order.
    func due(by now: MeshInstant) -> [LinkID] {
        let slots = Set(due.items(by: now))
        return slots.isEmpty ? [] : slotOf.filter { slots.contains($0.value) }.keys.sorted()
    }
}

extension MeshCore.Link {
    /// See `LinkMachine.leastRoom`. A mutating call reads the link in place; a property would copy it.
    fileprivate mutating func leastRoom() -> Int { machine.leastRoom }
}

/// Deadlines of items, with the next one first: a binary heap that knows the position of each item.
struct DueHeap: Sendable {
    private struct Entry: Sendable {
        var at: MeshInstant
        var item: Int
    }

    private var heap: [Entry] = []
    /// Position of each item in the heap. -1 for an item without a deadline.
    private var places: [Int] = []

    /// The next deadline.
    var first: MeshInstant? { heap.first?.at }

    /// Sets the deadline of an item, or removes it with nil. Items are small numbers from 0.
    mutating func set(_ time: MeshInstant?, for item: Int) {
        if item >= places.count { places += Array(repeating: -1, count: item + 1 - places.count) }
        let place = places[item]
        guard let time else { return place < 0 ? () : remove(place) }
        guard place >= 0 else {
            heap.append(Entry(at: time, item: item))
            return rise(heap.count - 1)
        }
        let before = heap[place].at
        guard time != before else { return }
        heap[place].at = time
        time < before ? rise(place) : sink(place)
    }

    /// The items that are due by this time, in any order.
    func items(by time: MeshInstant) -> [Int] {
        var (found, open): ([Int], [Int]) = ([], [0])
        while let place = open.popLast() {
            // Entries below another one are not due before it.
            guard place < heap.count, heap[place].at <= time else { continue }
            found.append(heap[place].item)
            open += [2 * place + 1, 2 * place + 2]
        }
        return found
    }

    private mutating func remove(_ place: Int) {
        places[heap[place].item] = -1
        let last = heap.removeLast()
        guard place < heap.count else { return }
        heap[place] = last
        places[last.item] = place
        rise(place)
        sink(places[last.item])
    }

    private mutating func rise(_ start: Int) {
        let entry = heap[start]
        var place = start
        while place > 0 {
            let parent = (place - 1) / 2
            guard entry.at < heap[parent].at else { break }
            put(heap[parent], at: place)
            place = parent
        }
        put(entry, at: place)
    }

    private mutating func sink(_ start: Int) {
        let entry = heap[start]
        var place = start
        while true {
            var child = 2 * place + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].at < heap[child].at { child += 1 }
            guard heap[child].at < entry.at else { break }
            put(heap[child], at: place)
            place = child
        }
        put(entry, at: place)
    }

    private mutating func put(_ entry: Entry, at place: Int) {
        heap[place] = entry
        places[entry.item] = place
    }
}
