// SPDX-License-Identifier: Apache-2.0

/// Detects a lost peer if the link layer reports nothing: it sends a ping every second, and decides when silence after
/// the ping means that the peer is lost.
///
/// Each side reports in its hello how long it may be silent (`Hello.silence`). The default is two seconds.
///
/// It wakes a node as rarely as possible. A responder pings all its links at the same time, and an initiator sends its
/// ping together with its answer to the responder's. So a second of a quiet link takes three SDUs instead of four, and
/// a host needs one alarm for its sixteen links.
///
/// If no one needs the round trip (`isAsked`), an initiator that is pinged sends no pings itself: the ping shows that
/// the other side is there, and the answer shows that this side is. So a second of a quiet link to a relay takes two
/// SDUs. From time to time it pings anyway, for the round trip in its report. An initiator that is no longer pinged
/// sends its pings at the usual times.
///
/// Pings continue while earlier ones wait. On a crowded link an answer may take seconds, and each ping shows the other
/// side that this one is alive. Silence counts only after an unanswered ping, since without a ping the peer need not
/// send anything.
struct Liveness: Sendable {
    enum Verdict: Hashable, Sendable {
        case nothing
        case ping(UInt64)
        case dead
    }

    private struct Ping: Sendable {
        var number: UInt64
        var sentAt: MeshInstant
    }

    /// When the first ping was sent since the last received data.
    private var askedAt: MeshInstant?
    private var nextPing: MeshInstant
    private var number: UInt64 = 0
    private var open: [Ping] = []
    /// How long the peer may be silent after a ping.
    private var silence = Limits.pongTimeout
    /// The shortest time between two pings of this side.
    private var leastInterval = Limits.pingInterval
    /// The ping that must be answered soon, since a message waits for the peer.
    private var doubt: UInt64?
    private let role: LinkRole
    /// An initiator that the other side pings sends few pings itself.
    var isAsked = false
    /// When the last ping was sent.
    private var lastPing: MeshInstant

    init(_ role: LinkRole, now: MeshInstant) {
        self.role = role
        (nextPing, lastPing) = (now, now)
        nextPing = pingAfter(now)
    }

    var deadline: MeshInstant {
        askedAt.map { min(nextPing, $0 + bearable) } ?? nextPing
    }

    /// Whether data have arrived since the last ping.
    var isAnswered: Bool { askedAt == nil }

    private var bearable: Duration { doubt == nil ? silence : min(Limits.circuitDoubt, silence) }

    /// Data have arrived. If a message waits, this does not prove that data reach the peer: a relay may forward the
    /// peer's data and drop this side's.
    mutating func heard() { if doubt == nil { askedAt = nil } }

    /// This side did not read, so the peer's silence does not count.
    mutating func excuse(now: MeshInstant) {
        askedAt = nil
        nextPing = pingAfter(now)
    }

    /// This side does not read at present. Returns the number of a ping to send. Silence after it does not count.
    mutating func showLife(now: MeshInstant) -> UInt64 {
        let number = ask(now: now)
        askedAt = nil
        return number
    }

    /// The peer has reported how long it may be silent. A peer that sleeps for long is not woken every second.
    mutating func bear(silence: Duration) {
        self.silence = min(max(silence, Limits.pongTimeout), Limits.longestSilence)
    }

    /// This side itself may be silent for this long. It saves power, so it pings as rarely as it is pinged.
    mutating func rest(silence: Duration) { leastInterval = max(Limits.pingInterval, silence / 2) }

    /// The link is up, and the peer has reported how long it may be silent. It was just heard, so the first ping is due
    /// later.
    mutating func begin(now: MeshInstant) { nextPing = pingAfter(now) }

    /// Whether this side saves power.
    var isResting: Bool { leastInterval > Limits.pingInterval }

    private var interval: Duration { max(leastInterval, silence / 2) }

    /// When the next ping is due after a ping at this time. An initiator waits a quarter longer, so that the
    /// responder's ping comes first.
    private func pingAfter(_ now: MeshInstant) -> MeshInstant {
        guard role == .responder else { return now + interval + interval / 4 }
        // The next of the times at which all links with this interval are pinged.
        let next = interval * (now / interval).rounded(.down) + interval
        return next > now ? next : next + interval
    }

    /// The peer's ping has arrived. Returns the number of a ping to send with the answer, if one is due soon.
    mutating func follow(now: MeshInstant) -> UInt64? {
        guard role == .initiator, nextPing - now <= interval * 3 / 4 else { return nil }
        guard isAsked, doubt == nil, now - lastPing < interval * Limits.pingsPerRoundTrip else { return ask(now: now) }
        nextPing = pingAfter(now)
        return nil
    }

    mutating func tick(now: MeshInstant) -> Verdict {
        if let askedAt, now >= askedAt + bearable { return .dead }
        return now >= nextPing ? .ping(ask(now: now)) : .nothing
    }

    /// A ping is sent now, and silence after it counts soon.
    mutating func doubt(now: MeshInstant) -> UInt64 {
        // A further call does not extend the time.
        if doubt == nil { askedAt = nil }
        let number = ask(now: now)
        doubt = doubt ?? number
        return number
    }

    /// A ping is sent now.
    mutating func ask(now: MeshInstant) -> UInt64 {
        (nextPing, lastPing) = (pingAfter(now), now)
        askedAt = askedAt ?? now
        number += 1
        open.append(Ping(number: number, sentAt: now))
        if open.count > Limits.openPings { open.removeFirst() }
        return number
    }

    /// A pong has arrived. Returns the round trip if it answers a ping of this side.
    mutating func answered(_ number: UInt64, now: MeshInstant) -> Duration? {
        guard let index = open.firstIndex(where: { $0.number == number }) else { return nil }
        if let doubt, number >= doubt { (self.doubt, askedAt) = (nil, nil) }
        let ping = open[index]
        open.removeFirst(index + 1)
        return now - ping.sentAt
    }
}
