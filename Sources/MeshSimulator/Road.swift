// SPDX-License-Identifier: Apache-2.0

/// What a guest meets on its way: where it is out of reach, how strong the signal is, when it votes. Times are since the
/// start.
public struct Road: Hashable, Sendable {
    /// From here on the signal is so strong.
    public struct Strength: Hashable, Sendable {
        /// Since when.
        public var at: Duration
        /// In dBm.
        public var dBm: Int

        /// A strength.
        public init(at: Duration, dBm: Int) {
            self.at = at
            self.dBm = dBm
        }
    }

    /// Where the guest is out of reach, in order.
    public var gaps: [Range<Duration>]
    /// How strong the signal is, in order.
    public var signal: [Strength]
    /// When somebody votes.
    public var votes: [Duration]
    /// How long it takes.
    public var length: Duration

    /// A road.
    public init(gaps: [Range<Duration>], signal: [Strength], votes: [Duration], length: Duration) {
        self.gaps = gaps
        self.signal = signal
        self.votes = votes
        self.length = length
    }

    /// Below this signal packets get lost.
    static let audible = -80
    /// With each dB below, so many more in a hundred.
    static let lossPerDecibel = 4
    /// At most so many: a link on which more are lost does not live.
    static let mostLost = 70
    /// A packet that is lost is sent again after the connection interval.
    static let interval: Duration = .milliseconds(50)
    /// More than that in a row, and the link is lost: the supervision timeout.
    static let resends = 8

    /// How many packets in a hundred are lost at a time. A model, and no measurement: none at -80 dBm, 40 at -90.
    func loss(at time: Duration) -> Int {
        var low = 0, high = signal.count
        while low < high {
            let middle = (low + high) / 2
            if signal[middle].at <= time { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return 0 }
        return min(max(0, (Self.audible - signal[low - 1].dBm) * Self.lossPerDecibel), Self.mostLost)
    }
}

/// A world that follows a road.
extension World {
    mutating func prepare(_ road: Road) {
        for gap in road.gaps {
            schedule(.rangeEnds(guest: 1), at: gap.lowerBound)
            schedule(.rangeReturns(guest: 1), at: gap.upperBound)
        }
        for vote in road.votes { schedule(.votes, at: vote) }
    }

    /// The road leads out of reach. The link layer tells after the supervision timeout.
    mutating func leavesRange(_ guest: Int) {
        guard outOfReach.insert(guest).inserted else { return }
        figures.faults[.tunnel, default: 0] += 1
        trace(guest, "is in a gap of its road")
        breakChannels(of: guest, after: 420...600)
    }

    /// How long an SDU takes longer because its packets are sent again.
    mutating func resending() -> Duration {
        guard let loss = scenario.road?.loss(at: now), loss > 0 else { return .zero }
        var time: Duration = .zero
        for _ in 0..<Road.resends where random.chance(loss) { time += Road.interval }
        return time
    }
}
