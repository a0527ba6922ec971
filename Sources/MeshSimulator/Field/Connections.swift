// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The links of all radios: connection events with data, intervals, and the end of a link that hears nothing.
///
/// Only data take time to compute: a connection event without data costs nothing.
struct Connections {
    typealias Time = Timeline<Field.Event>

    private struct Radio {
        /// Its links, including those that are being created.
        var links: [Int] = []
        var busyUntil = 0
        /// The intervals that it advises to the nodes that have dialled it.
        var plan = IntervalPlan()
        /// When its links last changed. It advertises fast for some time after that.
        var changedAt = 0
    }

    private(set) var links: [RadioLink] = []
    private var radios: [Radio]
    /// Links with ends that may have data to send.
    private var pulls: [(link: Int, end: Int)] = []
    /// Connection events with data that were skipped because a radio was busy.
    private(set) var skipped = 0

    init(radios count: Int) { radios = [Radio](repeating: Radio(), count: count) }

    // MARK: Links

    /// The links of a node, by number, including those that are being created.
    func links(of node: Int) -> [Int] { radios[node].links }

    func changedAt(_ node: Int) -> Int { radios[node].changedAt }

    mutating func changed(_ node: Int, at time: Int) { radios[node].changedAt = time }

    /// The link of a node with this identifier, and the node's end of it.
    func place(of id: MeshCore.LinkID, _ node: Int) -> (link: Int, end: Int)? {
        for link in radios[node].links {
            for end in 0...1 where links[link].ends[end].node == node && links[link].ends[end].id == id {
                return links[link].ends[end].isClosed ? nil : (link, end)
            }
        }
        return nil
    }

    /// The node that this one has dialled and is linked to. Nil without such a node, or if one of the two cannot hear
    /// the other.
    func parent(of node: Int) -> Int? {
        radios[node].links.first { links[$0].central == node && links[$0].isUp }.map { links[$0].peripheral }
    }

    /// A dial has been answered. Returns the new link.
    mutating func connect(_ node: Int, to target: Int, dial: Int, signal: Int, _ time: inout Time) -> Int {
        let link = links.count
        links.append(RadioLink(node, target, dial: dial, signal: signal, now: time.now))
        for end in [node, target] {
            radios[end].links.append(link)
            radios[end].changedAt = time.now
        }
        let channel = FieldAir.firstEvent + FieldAir.eventsToChannel * RadioLink.untuned
        time.schedule(.air(.opens(link: link)), at: time.now + channel + time.random.below(RadioLink.untuned))
        return link
    }

    /// A channel opens on a link.
    mutating func opens(_ link: Int, _ time: inout Time) {
        time.schedule(.air(.retunes(link: link)), at: time.now + FieldAir.tuningDelay)
        radios[links[link].peripheral].plan.opened(Self.handle(link))
        radios[links[link].central].plan.dialled(Self.handle(link), intervals: nil)
        planChanged(links[link].peripheral, &time)
    }

    mutating func opened(_ link: Int, _ end: Int, as id: MeshCore.LinkID) { links[link].ends[end].id = id }

    // MARK: Sending

    /// A node's link has data to send.
    mutating func wants(_ link: Int, _ end: Int) {
        guard !links[link].ends[end].willPull else { return }
        links[link].ends[end].willPull = true
        pulls.append((link, end))
    }

    /// The next end that may have data to send.
    mutating func nextPull() -> (link: Int, end: Int)? {
        guard let (link, end) = pulls.popLast() else { return nil }
        links[link].ends[end].willPull = false
        return (link, end)
    }

    /// Whether the controller's buffers and the other side's credits allow another SDU.
    func hasRoom(_ link: Int, _ end: Int) -> Bool {
        var held = 0
        for packet in links[link].ends[end].queue { held += FieldAir.packets(packet.sdu.count) }
        let waiting = links[link].ends[1 - end].unread.count + links[link].ends[end].underway.count
        return held < FieldAir.buffers && waiting < FieldAir.credits + FieldAir.buffers
    }

    /// Gives an SDU to the controller.
    mutating func queue(_ sdu: [UInt8], _ link: Int, _ end: Int, _ time: inout Time) {
        links[link].ends[end].queue(sdu)
        if RadioLink.isData(sdu.count, from: end) { isUsed(link, &time) }
    }

    /// A node has sent all of its data, or the controller is full.
    mutating func pulled(_ link: Int, _ end: Int, _ time: inout Time) {
        links[link].ends[end].hasMore = !hasRoom(link, end)
        guard !links[link].ends[end].queue.isEmpty, !links[link].willMeet else { return }
        meet(link, from: time.now, &time)
    }

    private mutating func meet(_ link: Int, from start: Int, _ time: inout Time) {
        links[link].willMeet = true
        time.schedule(.air(.meets(link: link)), at: links[link].event(from: start))
    }

    /// Runs a connection event with data. If a radio of either side is busy, the event is skipped, as in the lab where
    /// events collide. Otherwise packets are exchanged until the next event of either radio.
    mutating func meets(_ link: Int, _ time: inout Time) {
        links[link].willMeet = false
        guard !links[link].isOver, !links[link].isFading else { return }
        let now = time.now
        guard isFree(links[link].central, beside: link, now), isFree(links[link].peripheral, beside: link, now) else {
            skipped += 1
            return meet(link, from: now + 1, &time)
        }
        let isTuned = links[link].interval != RadioLink.untuned
        let loss = links[link].signal.map { Road.loss(at: $0) } ?? 100
        let limit = nextEvent(beside: link, now) - FieldAir.overhead
        var end = now
        var isFirst = true
        while true {
            let (down, up) = (links[link].ends[0].nextPacket, links[link].ends[1].nextPacket)
            guard down + up > 0 else { break }
            let over = end + FieldAir.exchange(down, up, isTuned: isTuned)
            guard isFirst || over <= limit else { break }
            (end, isFirst) = (over, false)
            // A lost packet closes the event, and is sent again in the next one.
            if loss > 0, time.random.chance(loss) { break }
            if down > 0 { sent(down, link, 0, at: end, &time) }
            if up > 0 { sent(up, link, 1, at: end, &time) }
        }
        radios[links[link].central].busyUntil = end
        radios[links[link].peripheral].busyUntil = end
        if !links[link].ends[0].queue.isEmpty || !links[link].ends[1].queue.isEmpty { meet(link, from: now + 1, &time) }
    }

    private mutating func sent(_ bytes: Int, _ link: Int, _ end: Int, at arrival: Int, _ time: inout Time) {
        let headers = links[link].ends[end].queue[0].sent == 0 ? 6 : 4
        links[link].ends[end].queue[0].sent += bytes - headers
        guard links[link].ends[end].queue[0].sent >= links[link].ends[end].queue[0].sdu.count else { return }
        links[link].ends[end].underway.append(links[link].ends[end].queue.removeFirst().sdu)
        time.schedule(.air(.arrives(link: link, from: end)), at: arrival)
    }

    /// Whether a radio is in no connection event of another link.
    private func isFree(_ node: Int, beside link: Int, _ now: Int) -> Bool {
        guard radios[node].busyUntil <= now - FieldAir.overhead else { return false }
        for other in radios[node].links where other != link && !links[other].isOver {
            let event = links[other].event(before: now)
            if event <= now, event + FieldAir.idleEvent > now { return false }
        }
        return true
    }

    /// Start of the next event of another link of either radio, or of the next one of this link.
    private func nextEvent(beside link: Int, _ now: Int) -> Int {
        min(
            nextEvent(of: links[link].central, beside: link, now),
            nextEvent(of: links[link].peripheral, beside: link, now), links[link].event(from: now + 1))
    }

    private func nextEvent(of node: Int, beside link: Int, _ now: Int) -> Int {
        var next = Int.max
        for other in radios[node].links where other != link && !links[other].isOver {
            next = min(next, links[other].event(from: now + 1))
        }
        return next
    }

    // MARK: Receiving

    /// An SDU arrives at the other end. Nil if the link is over.
    mutating func arrives(_ link: Int, from end: Int) -> [UInt8]? {
        guard !links[link].isOver, !links[link].ends[end].underway.isEmpty else { return nil }
        let sdu = links[link].ends[end].underway.removeFirst()
        // A buffer is free again.
        if links[link].ends[end].hasMore { wants(link, end) }
        return sdu
    }

    mutating func leaveUnread(_ sdu: [UInt8], _ link: Int, _ end: Int) { links[link].ends[end].unread.append(sdu) }

    /// The SDU that a node has left unread first. Its buffer is free again.
    mutating func read(_ link: Int, _ end: Int) -> [UInt8]? {
        links[link].ends[end].unread.isEmpty ? nil : links[link].ends[end].unread.removeFirst()
    }

    // MARK: Intervals

    /// A link carries data, so it gets the short interval for some time.
    private mutating func isUsed(_ link: Int, _ time: inout Time) {
        links[link].isBriskUntil = time.now + FieldAir.briskTime
        guard !links[link].willRetune, interval(of: link, time.now) != links[link].interval else { return }
        links[link].willRetune = true
        time.schedule(.air(.retunes(link: link)), at: time.now + FieldAir.eventsToChange * links[link].interval)
    }

    private func interval(of link: Int, _ now: Int) -> Int {
        let advised = radios[links[link].peripheral].plan.intervals(of: Self.handle(link))
        guard let advised else { return links[link].interval }
        return (links[link].isBriskUntil > now ? advised.brisk : advised.calm) * FieldAir.unit
    }

    /// A link's handle, numbered as controllers do.
    private static func handle(_ link: Int) -> UInt16 { UInt16(truncatingIfNeeded: link) }

    /// A node's links have changed, or a link that it has dialled has other intervals. The node advises new intervals
    /// to those that have dialled it.
    private mutating func planChanged(_ node: Int, _ time: inout Time) {
        for link in radios[node].links where links[link].peripheral == node {
            guard !links[link].isOver, !links[link].willRetune else { continue }
            links[link].willRetune = true
            time.schedule(.air(.retunes(link: link)), at: time.now + FieldAir.adviceDelay)
        }
    }

    mutating func retunes(_ link: Int, _ time: inout Time) {
        guard !links[link].isOver else { return }
        let advised = radios[links[link].peripheral].plan.intervals(of: Self.handle(link))
        if let advised, advised != links[link].advised {
            links[link].advised = advised
            radios[links[link].central].plan.advised(Self.handle(link), advised)
            planChanged(links[link].central, &time)
        }
        let wanted = interval(of: link, time.now)
        if wanted != links[link].interval {
            links[link].anchor = links[link].event(from: time.now)
            links[link].interval = wanted
        }
        links[link].willRetune = links[link].isBriskUntil > time.now
        guard links[link].willRetune else { return }
        let change = links[link].isBriskUntil + FieldAir.eventsToChange * links[link].interval
        time.schedule(.air(.retunes(link: link)), at: change)
    }

    // MARK: The end

    /// One of the two nodes has moved.
    mutating func moved(_ link: Int, signal: Int?, _ time: inout Time) {
        links[link].signal = signal
        if signal == nil { fade(link, &time) }
    }

    /// The link hears nothing any more. If that lasts, it is lost.
    mutating func fade(_ link: Int, _ time: inout Time) {
        guard !links[link].isFading, !links[link].isOver else { return }
        links[link].isFading = true
        time.schedule(
            .air(.fades(link: link)), at: links[link].event(before: time.now) + links[link].supervision)
    }

    /// The supervision timeout is over. Returns whether the link is lost.
    mutating func fades(_ link: Int, areThere: Bool, _ time: inout Time) -> Bool {
        guard !links[link].isOver else { return false }
        guard areThere, links[link].signal != nil else { return true }
        links[link].isFading = false
        meet(link, from: time.now, &time)
        return false
    }

    /// A node closes its end. The other end learns of the end after the last data. Returns false if data in the
    /// controller are sent first.
    mutating func shuts(_ link: Int, _ end: Int, _ time: inout Time) -> Bool {
        guard !links[link].ends[end].isClosed else { return false }
        guard links[link].ends[end].queue.isEmpty || links[link].isFading else {
            time.schedule(.air(.shuts(link: link, end: end)), at: time.now + links[link].interval)
            return false
        }
        return true
    }

    /// One end was shut, so the other one learns it.
    mutating func shut(_ link: Int, _ end: Int, _ time: inout Time) {
        guard !links[link].ends[1 - end].isClosed else { return }
        time.schedule(
            .air(.shuts(link: link, end: 1 - end)), at: links[link].event(from: time.now) + links[link].interval)
    }

    /// A node learns that its channel has closed, or has closed it. Returns false if it knew.
    mutating func closes(_ link: Int, _ end: Int, _ time: inout Time) -> Bool {
        guard !links[link].ends[end].isClosed else { return false }
        links[link].ends[end].isClosed = true
        let node = links[link].ends[end].node
        if end == 0 { radios[node].plan.hungUp(Self.handle(link)) } else { radios[node].plan.closed(Self.handle(link)) }
        planChanged(node, &time)
        if links[link].ends[1 - end].isClosed { free(link, time.now) }
        return true
    }

    /// The link layer's link has ended. Both radios have room again.
    private mutating func free(_ link: Int, _ now: Int) {
        links[link].isOver = true
        for end in 0...1 {
            links[link].ends[end].queue = []
            links[link].ends[end].underway = []
            links[link].ends[end].unread = []
            let node = links[link].ends[end].node
            radios[node].links.removeAll { $0 == link }
            radios[node].changedAt = now
        }
    }
}
