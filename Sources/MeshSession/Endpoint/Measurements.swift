// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Pings and probes that wait for their answers.
struct Measurements {
    /// What was sent.
    enum Kind: Hashable { case ping, probe }

    struct Waiting {
        let link: MeshCore.LinkID
        let kind: Kind
        /// Its number among the pings or the circuits of its link.
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

    /// A ping was answered. Its answer is also that to earlier pings, of which the peer need not answer each.
    mutating func ponged(_ number: UInt64, on link: MeshCore.LinkID, now: MeshInstant) {
        resume(at: now) { $0.link == link && $0.kind == .ping && $0.number <= number }
    }

    /// A probe's circuit has ended. Only `isAnswer` is the probed relay's answer.
    mutating func probed(_ number: UInt64, on link: MeshCore.LinkID, isAnswer: Bool, now: MeshInstant) {
        resume(at: isAnswer ? now : nil) { $0.link == link && $0.kind == .probe && $0.number == number }
    }

    /// A link has ended. Nothing on it is answered.
    mutating func ended(_ link: MeshCore.LinkID) { resume(at: nil) { $0.link == link } }

    /// Nothing is answered any more.
    mutating func endAll() { resume(at: nil) { _ in true } }

    /// The time for an answer is over. Returns the measurement if it still waited.
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
