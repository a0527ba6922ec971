// SPDX-License-Identifier: Apache-2.0

/// Decides whether anybody is still there, where the link layer says nothing: a ping each second, and what silence
/// after it means.
///
/// Each side says in its hello how long it may be silent (`Hello.silence`); two seconds where it says nothing.
///
/// A node is woken as seldom as can be: a responder pings all its links in the same moment, and an initiator's ping goes with
/// its answer to the responder's. So a second of a quiet link takes three SDUs and not four, and of a host's sixteen links it
/// takes one alarm.
///
/// Where the round trip is nobody's concern (`isAsked`), an initiator that is asked does not ask by itself: that it is asked shows that
/// the other side is there, and its answer shows that it is. So a quiet second of a link to a relay takes two SDUs. Now and then it asks
/// all the same, for the round trip that its report shows. An initiator that is not asked any more asks when it always did.
///
/// Pings go on while earlier ones wait: on a crowded link an answer may take seconds, and each ping is a sign of life
/// for the other side. Only an unanswered ping makes silence mean something: who was not asked need not answer.
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

    /// When the first ping left since something was heard.
    private var askedAt: MeshInstant?
    private var nextPing: MeshInstant
    private var number: UInt64 = 0
    private var open: [Ping] = []
    /// How long the peer may be silent after a ping.
    private var silence = Limits.pongTimeout
    /// The ping that has to be answered soon, since something waits for the peer.
    private var doubt: UInt64?
    private let role: LinkRole
    /// An initiator that the other side asks leaves it at that.
    var isAsked = false
    /// When the last ping left.
    private var lastPing: MeshInstant

    init(_ role: LinkRole, now: MeshInstant) {
        self.role = role
        (nextPing, lastPing) = (now, now)
        nextPing = pingAfter(now)
    }

    var deadline: MeshInstant {
        askedAt.map { min(nextPing, $0 + bearable) } ?? nextPing
    }

    /// Whether something has arrived since the last ping.
    var isAnswered: Bool { askedAt == nil }

    private var bearable: Duration { doubt == nil ? silence : min(Limits.circuitDoubt, silence) }

    /// Something has arrived. It does not say that anything arrives there, where that is in doubt: a relay may pass on what comes
    /// from the peer, and drop what goes to it.
    mutating func heard() { if doubt == nil { askedAt = nil } }

    /// We did not listen.
    mutating func excuse(now: MeshInstant) {
        askedAt = nil
        nextPing = pingAfter(now)
    }

    /// The peer has said how long it may be silent. What sleeps for long is not woken each second.
    mutating func bear(silence: Duration) {
        self.silence = min(max(silence, Limits.pongTimeout), Limits.longestSilence)
    }

    /// The link is up, and its peer has said how long it may be silent: it has just been heard, and is asked when that says so.
    mutating func begin(now: MeshInstant) { nextPing = pingAfter(now) }

    private var interval: Duration { max(Limits.pingInterval, silence / 2) }

    /// When the ping after one at this time is due. An initiator gives the responder's a quarter of the time to come first.
    private func pingAfter(_ now: MeshInstant) -> MeshInstant {
        guard role == .responder else { return now + interval + interval / 4 }
        // The next of the moments in which all links of this interval are asked.
        let next = interval * (now / interval).rounded(.down) + interval
        return next > now ? next : next + interval
    }

    /// The peer's ping has come: one of this side leaves with the answer where it is soon due.
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

    /// A ping leaves now, and silence after it soon means something.
    mutating func doubt(now: MeshInstant) -> UInt64 {
        // Who is asked again meanwhile has no more time than it had.
        if doubt == nil { askedAt = nil }
        let number = ask(now: now)
        doubt = doubt ?? number
        return number
    }

    /// A ping leaves now.
    mutating func ask(now: MeshInstant) -> UInt64 {
        (nextPing, lastPing) = (pingAfter(now), now)
        askedAt = askedAt ?? now
        number += 1
        open.append(Ping(number: number, sentAt: now))
        if open.count > Limits.openPings { open.removeFirst() }
        return number
    }

    /// A pong has come: the round trip, where it answers a ping of ours.
    mutating func answered(_ number: UInt64, now: MeshInstant) -> Duration? {
        guard let index = open.firstIndex(where: { $0.number == number }) else { return nil }
        if let doubt, number >= doubt { (self.doubt, askedAt) = (nil, nil) }
        let ping = open[index]
        open.removeFirst(index + 1)
        return now - ping.sentAt
    }
}
