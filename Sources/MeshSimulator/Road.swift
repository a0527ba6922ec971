// SPDX-License-Identifier: Apache-2.0

/// The events on a guest's way: where it is out of range, the signal strength, and its votes. Times are since the
/// start.
public struct Road: Hashable, Sendable {
    /// The signal strength from a time on.
    public struct Strength: Hashable, Sendable {
        /// Start of this strength.
        public var at: Duration
        /// In dBm.
        public var dBm: Int

        /// A strength.
        public init(at: Duration, dBm: Int) {
            self.at = at
            self.dBm = dBm
        }
    }

    /// Times out of range, in order.
    public var gaps: [Range<Duration>]
    /// Signal strengths, in order.
    public var signal: [Strength]
    /// Times of votes.
    public var votes: [Duration]
    /// Total time.
    public var length: Duration

    /// A road.
    public init(gaps: [Range<Duration>], signal: [Strength], votes: [Duration], length: Duration) {
        self.gaps = gaps
        self.signal = signal
        self.votes = votes
        self.length = length
    }

    /// Below this signal strength, in dBm, packets get lost.
    static let audible = -80
    /// Percentage of lost packets for each dB below that.
    static let lossPerDecibel = 4
    /// Highest percentage of lost packets. A link with more would be lost.
    static let mostLost = 70
    /// A lost packet is sent again after the connection interval.
    static let interval: Duration = .milliseconds(50)
    /// Maximum number of losses of a packet in a row before the link is lost: the supervision timeout.
    static let resends = 8

    /// Percentage of lost packets at a time. This is a model, not a measurement: none at -80 dBm, 40 at -90.
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

    /// The road leads out of range. The link layer reports it after the supervision timeout.
    mutating func leavesRange(_ guest: Int) {
        guard outOfReach.insert(guest).inserted else { return }
        figures.faults[.tunnel, default: 0] += 1
        trace(guest, "is in a gap of its road")
        breakChannels(of: guest, after: 420...600)
    }

    /// Additional time of an SDU for packets that are sent again.
    mutating func resending() -> Duration {
        guard let loss = scenario.road?.loss(at: now), loss > 0 else { return .zero }
        var time: Duration = .zero
        for _ in 0..<Road.resends where random.chance(loss) { time += Road.interval }
        return time
    }
}
