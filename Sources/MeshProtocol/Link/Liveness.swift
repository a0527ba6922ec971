// SPDX-License-Identifier: Apache-2.0

/// Decides whether anybody is still there, where the link layer says nothing: a ping each second, and what silence
/// after it means.
///
/// Each side says in its hello how long it may be silent (`Hello.silence`); two seconds where it says nothing.
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

    init(now: MeshInstant) {
        nextPing = now + Limits.pingInterval
    }

    var deadline: MeshInstant {
        askedAt.map { min(nextPing, $0 + silence) } ?? nextPing
    }

    /// Whether something has arrived since the last ping.
    var isAnswered: Bool { askedAt == nil }

    /// Something has arrived.
    mutating func heard() {
        askedAt = nil
    }

    /// We did not listen.
    mutating func excuse(now: MeshInstant) {
        askedAt = nil
        nextPing = now + interval
    }

    /// The peer has said how long it may be silent. What sleeps for long is not woken each second.
    mutating func bear(silence: Duration) {
        self.silence = min(max(silence, Limits.pongTimeout), Limits.longestSilence)
    }

    private var interval: Duration { max(Limits.pingInterval, silence / 2) }

    mutating func tick(now: MeshInstant) -> Verdict {
        if let askedAt, now >= askedAt + silence { return .dead }
        return now >= nextPing ? .ping(ask(now: now)) : .nothing
    }

    /// A ping leaves now.
    mutating func ask(now: MeshInstant) -> UInt64 {
        nextPing = now + interval
        askedAt = askedAt ?? now
        number += 1
        open.append(Ping(number: number, sentAt: now))
        if open.count > Limits.openPings { open.removeFirst() }
        return number
    }

    /// A pong has come: the round trip, where it answers a ping of ours.
    mutating func answered(_ number: UInt64, now: MeshInstant) -> Duration? {
        guard let index = open.firstIndex(where: { $0.number == number }) else { return nil }
        let ping = open[index]
        open.removeFirst(index + 1)
        return now - ping.sentAt
    }
}
