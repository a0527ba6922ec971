// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Pings and probes that wait for their answers.
struct Measurements {
    /// What was sent.
    enum Kind: Hashable { case ping, probe }

    struct Waiting {
        let link: MeshCore.LinkID
        let kind: Kind
        /// The number of the ping, or of the probe's circuit, on this link.
        let number: UInt64
        let sentAt: MeshInstant
        let waiter: CheckedContinuation<Duration?, Never>
    }

    private var waiting: [Int: Waiting] = [:]
    private var last = 0

    /// Adds a measurement. Returns a token for `expire`.
    mutating func add(_ measurement: Waiting) -> Int {
        last += 1
        waiting[last] = measurement
        return last
    }

    /// A ping was answered. The answer also covers earlier pings, because a peer need not answer every ping.
    mutating func ponged(_ number: UInt64, on link: MeshCore.LinkID, now: MeshInstant) {
        resume(at: now) { $0.link == link && $0.kind == .ping && $0.number <= number }
    }

    /// A probe's circuit has ended. If `isAnswer` is true, the probed relay itself has ended it.
    mutating func probed(_ number: UInt64, on link: MeshCore.LinkID, isAnswer: Bool, now: MeshInstant) {
        resume(at: isAnswer ? now : nil) { $0.link == link && $0.kind == .probe && $0.number == number }
    }

    /// A link has ended. Its measurements fail.
    mutating func ended(_ link: MeshCore.LinkID) { resume(at: nil) { $0.link == link } }

    /// Ends all measurements without an answer.
    mutating func endAll() { resume(at: nil) { _ in true } }

    /// The time for an answer is over. Returns the measurement if no answer has arrived.
    mutating func expire(_ token: Int) -> Waiting? {
        let expired = waiting.removeValue(forKey: token)
        expired?.waiter.resume(returning: nil)
        return expired
    }

    private mutating func resume(at now: MeshInstant?, where isMeant: (Waiting) -> Bool) {
        for (token, one) in waiting where isMeant(one) {
            waiting[token] = nil
            one.waiter.resume(returning: now.map { $0 - one.sentAt })
        }
    }
}
