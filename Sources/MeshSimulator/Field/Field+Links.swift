// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

// Links: connection events with data, and the end of a link that hears nothing.

extension Field {
    // MARK: Sending

    /// A node's link has data to send.
    mutating func wants(_ link: Int, _ end: Int) {
        guard !links[link].ends[end].willPull else { return }
        links[link].ends[end].willPull = true
        pulls.append((link, end))
    }

    /// Fills the controllers' buffers until they are full or no node has more data.
    mutating func pull() {
        while let (link, end) = pulls.popLast() {
            links[link].ends[end].willPull = false
            pull(link, end)
        }
    }

    private mutating func pull(_ link: Int, _ end: Int) {
        let (node, id) = (links[link].ends[end].node, links[link].ends[end].id)
        guard id != 0, !links[link].ends[end].isClosed else { return }
        settle(node)
        var hasMore = false
        var count = 0
        while true {
            guard hasRoom(link, end) else {
                hasMore = true
                break
            }
            guard let sdu = nodes[node].core?.loop.nextSDU(for: id, limit: Limits.sduBytes, now: instant) else { break }
            links[link].ends[end].queue.append(FieldLink.Packet(sdu: sdu))
            links[link].ends[end].bytes += sdu.count
            links[link].ends[end].sdus += 1
            tally.sdus += 1
            tally.bytes += sdu.count
            if nodes[node].isHost { tally.hostBytes += sdu.count }
            if FieldLink.isData(sdu.count, from: end) { isUsed(link) }
            perform(node)
            count += 1
        }
        links[link].ends[end].hasMore = hasMore
        if count > 0 { touch(node) }
        guard !links[link].ends[end].queue.isEmpty, !links[link].willMeet else { return }
        meet(link, from: now)
    }

    /// Whether the controller's buffers and the other side's credits allow another SDU.
    private func hasRoom(_ link: Int, _ end: Int) -> Bool {
        var held = 0
        for packet in links[link].ends[end].queue { held += FieldAir.packets(packet.sdu.count) }
        let waiting = links[link].ends[1 - end].unread.count + links[link].ends[end].underway.count
        return held < FieldAir.buffers && waiting < FieldAir.credits + FieldAir.buffers
    }

    private mutating func meet(_ link: Int, from time: Int) {
        links[link].willMeet = true
        schedule(.meets(link: link), at: links[link].event(from: time))
    }

    /// Runs a connection event with data. If a radio of either side is busy, the event is skipped, as in the lab where
    /// events collide. Otherwise packets are exchanged until the next event of either radio.
    mutating func meets(_ link: Int) {
        links[link].willMeet = false
        guard !links[link].isOver, !links[link].isFading else { return }
        guard isFree(link) else {
            tally.skipped += 1
            return meet(link, from: now + 1)
        }
        let isTuned = links[link].interval != FieldLink.untuned
        let loss = links[link].signal.map { FieldAir.loss(at: $0) } ?? 100
        let limit = nextEvent(beside: link) - FieldAir.overhead
        var time = now
        var isFirst = true
        while true {
            let (down, up) = (links[link].ends[0].nextPacket, links[link].ends[1].nextPacket)
            guard down + up > 0 else { break }
            let over = time + FieldAir.exchange(down, up, isTuned: isTuned)
            guard isFirst || over <= limit else { break }
            (time, isFirst) = (over, false)
            // A lost packet closes the event, and is sent again in the next one.
            if loss > 0, random.chance(loss) { break }
            if down > 0 { sent(down, link, 0, at: time) }
            if up > 0 { sent(up, link, 1, at: time) }
        }
        nodes[links[link].central].busyUntil = time
        nodes[links[link].peripheral].busyUntil = time
        if !links[link].ends[0].queue.isEmpty || !links[link].ends[1].queue.isEmpty { meet(link, from: now + 1) }
    }

    private mutating func sent(_ bytes: Int, _ link: Int, _ end: Int, at time: Int) {
        let headers = links[link].ends[end].queue[0].sent == 0 ? 6 : 4
        links[link].ends[end].queue[0].sent += bytes - headers
        guard links[link].ends[end].queue[0].sent >= links[link].ends[end].queue[0].sdu.count else { return }
        links[link].ends[end].underway.append(links[link].ends[end].queue.removeFirst().sdu)
        schedule(.arrives(link: link, from: end), at: time)
    }

    /// Whether neither radio is in a connection event of another link.
    private func isFree(_ link: Int) -> Bool {
        isFree(links[link].central, beside: link) && isFree(links[link].peripheral, beside: link)
    }

    private func isFree(_ node: Int, beside link: Int) -> Bool {
        guard nodes[node].busyUntil <= now - FieldAir.overhead else { return false }
        for other in nodes[node].links where other != link && !links[other].isOver {
            let event = links[other].event(before: now)
            if event <= now, event + FieldAir.idleEvent > now { return false }
        }
        return true
    }

    /// Start of the next event of another link of either radio, or of the next one of this link.
    private func nextEvent(beside link: Int) -> Int {
        min(
            nextEvent(of: links[link].central, beside: link), nextEvent(of: links[link].peripheral, beside: link),
            links[link].event(from: now + 1))
    }

    private func nextEvent(of node: Int, beside link: Int) -> Int {
        var next = Int.max
        for other in nodes[node].links where other != link && !links[other].isOver {
            next = min(next, links[other].event(from: now + 1))
        }
        return next
    }

    // MARK: Receiving

    mutating func arrives(_ link: Int, _ from: Int) {
        guard !links[link].isOver, !links[link].ends[from].underway.isEmpty else { return }
        let sdu = links[link].ends[from].underway.removeFirst()
        // A buffer is free again.
        if links[link].ends[from].hasMore { wants(link, from) }
        let (end, node, id) = (1 - from, links[link].ends[1 - from].node, links[link].ends[1 - from].id)
        guard !takesTurn(node) else { return pull() }
        if nodes[node].core != nil, !links[link].ends[end].isClosed {
            if id == 0 || !links[link].ends[end].unread.isEmpty || !mayRead(node, id) {
                links[link].ends[end].unread.append(sdu)
            } else {
                feed(.received(sdu, on: id), node)
            }
        }
        pull()
    }

    private func mayRead(_ node: Int, _ id: MeshCore.LinkID) -> Bool {
        nodes[node].core?({ $0.mayRead(id, now: instant) }) == true
    }

    /// Reads data that a node has left unread, if it reads again.
    mutating func readAgain(_ node: Int) {
        for link in nodes[node].links {
            let end = links[link].central == node ? 0 : 1
            let id = links[link].ends[end].id
            while !links[link].ends[end].unread.isEmpty, id != 0, mayRead(node, id) {
                let sdu = links[link].ends[end].unread.removeFirst()
                take(.received(sdu, on: id), node)
                wants(link, 1 - end)
            }
        }
    }

    // MARK: Intervals

    /// A link carries data, so it gets the short interval for some time.
    private mutating func isUsed(_ link: Int) {
        links[link].isBriskUntil = now + FieldAir.briskTime
        guard !links[link].willRetune, interval(of: link) != links[link].interval else { return }
        links[link].willRetune = true
        schedule(.retunes(link: link), at: now + FieldAir.eventsToChange * links[link].interval)
    }

    private func interval(of link: Int) -> Int {
        let advised = nodes[links[link].ends[1].node].plan.intervals(of: Self.handle(link))
        guard let advised else { return links[link].interval }
        return (links[link].isBriskUntil > now ? advised.brisk : advised.calm) * FieldAir.unit
    }

    /// A link's handle, numbered as controllers do.
    static func handle(_ link: Int) -> UInt16 { UInt16(truncatingIfNeeded: link) }

    /// A node's links have changed, or a link that it has dialled has other intervals. The node advises new intervals
    /// to those that have dialled it.
    mutating func planChanged(_ node: Int) {
        for link in nodes[node].links where links[link].ends[1].node == node {
            guard !links[link].isOver, !links[link].willRetune else { continue }
            links[link].willRetune = true
            schedule(.retunes(link: link), at: now + FieldAir.adviceDelay)
        }
    }

    mutating func retunes(_ link: Int) {
        guard !links[link].isOver else { return }
        let advised = nodes[links[link].ends[1].node].plan.intervals(of: Self.handle(link))
        if let advised, advised != links[link].advised {
            links[link].advised = advised
            nodes[links[link].ends[0].node].plan.advised(Self.handle(link), advised)
            planChanged(links[link].ends[0].node)
        }
        let wanted = interval(of: link)
        if wanted != links[link].interval {
            links[link].anchor = links[link].event(from: now)
            links[link].interval = wanted
        }
        links[link].willRetune = links[link].isBriskUntil > now
        guard links[link].willRetune else { return }
        schedule(
            .retunes(link: link), at: links[link].isBriskUntil + FieldAir.eventsToChange * links[link].interval)
    }

    // MARK: The end

    /// One of the two nodes has moved.
    mutating func checkRange(_ link: Int) {
        links[link].signal = signal(links[link].central, links[link].peripheral)
        guard !links[link].isFading, !links[link].isOver else { return }
        if links[link].signal == nil { fade(link) }
    }

    /// The link hears nothing any more. If that lasts, it is lost.
    mutating func fade(_ link: Int) {
        guard !links[link].isFading, !links[link].isOver else { return }
        links[link].isFading = true
        schedule(.fades(link: link), at: links[link].event(before: now) + links[link].supervision)
    }

    mutating func fades(_ link: Int) {
        guard !links[link].isOver else { return }
        let isThere = nodes[links[link].central].core != nil && nodes[links[link].peripheral].core != nil
        if isThere, links[link].signal != nil {
            links[link].isFading = false
            return meet(link, from: now)
        }
        tally.faded += 1
        for end in 0...1 { closes(link, end) }
        pull()
    }

    /// A node closes its end. The other end learns of the end after the last data.
    mutating func shuts(_ link: Int, _ end: Int) {
        guard !links[link].ends[end].isClosed else { return }
        if !links[link].ends[end].queue.isEmpty, !links[link].isFading {
            // Data in the controller are sent first.
            return schedule(.shuts(link: link, end: end), at: now + links[link].interval)
        }
        closes(link, end)
        if !links[link].ends[1 - end].isClosed {
            schedule(.shuts(link: link, end: 1 - end), at: links[link].event(from: now) + links[link].interval)
        }
        pull()
    }

    /// A node learns that its channel has closed, or has closed it.
    mutating func closes(_ link: Int, _ end: Int) {
        guard !links[link].ends[end].isClosed else { return }
        links[link].ends[end].isClosed = true
        let (node, id) = (links[link].ends[end].node, links[link].ends[end].id)
        if end == 0 { nodes[node].plan.hungUp(Self.handle(link)) } else { nodes[node].plan.closed(Self.handle(link)) }
        planChanged(node)
        trace(node, "link with \(nodes[links[link].ends[1 - end].node].name) closes")
        if links[link].ends[1 - end].isClosed { free(link) }
        if id != 0 {
            feed(.channelClosed(id), node)
        } else if end == 0 {
            dialFails(node, links[link].dial)
        }
    }

    /// The link layer's link has ended. Both radios have room again.
    private mutating func free(_ link: Int) {
        links[link].isOver = true
        for end in 0...1 {
            links[link].ends[end].queue = []
            links[link].ends[end].underway = []
            links[link].ends[end].unread = []
            let node = links[link].ends[end].node
            nodes[node].links.removeAll { $0 == link }
            nodes[node].changedAt = now
        }
    }
}
