// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// A world before it begins: who is there, what the air is like, and what will go wrong. All of it comes from the seed.
///
/// Each kind of fault is there in every other world: a bug that one fault hides from another is found where the other is
/// alone.
public struct Scenario: Hashable, Sendable {
    /// What can go wrong.
    public enum Fault: Int, CaseIterable, Sendable {
        /// A guest is out of reach for a while, and the ends of its links learn it one after the other, or never.
        case tunnel
        /// A channel carries nothing in one direction, and nobody is told.
        case oneWay
        /// A channel breaks.
        case breaks
        /// A node is killed and comes back with its store.
        case kill
        /// A node is killed and comes back with its key, but without its store.
        case loseStore
        /// A node's adapter goes away and comes back.
        case adapter
        /// A node's clock leaps.
        case clockLeap
        /// A guest's person leaves the host and comes back.
        case leave
        /// Somebody changes what a channel carries.
        case tamper
        /// Somebody dials the host who means no good.
        case intruder
        /// Somebody answers in the host's place.
        case impostor
        /// A disk refuses all writes for a while, or answers none.
        case disk
        /// A node ends as it should, and starts again.
        case quit
        /// The driver ends the session: the next one begins as a new host does, and everybody is welcome.
        case session
        /// The driver sends a guest away.
        case kick
        /// A browser's page is closed in the middle of something, or its link is given up. Only where there are browsers.
        case page

        /// Many of them, in words.
        public var sentence: String {
            switch self {
            case .tunnel: "tunnels"
            case .oneWay: "one-way channels"
            case .breaks: "broken channels"
            case .kill: "kills"
            case .loseStore: "lost stores"
            case .adapter: "adapters gone"
            case .clockLeap: "clock jumps"
            case .leave: "guests that left"
            case .tamper: "tamperings"
            case .intruder: "visits of intruders"
            case .impostor: "impostors"
            case .disk: "disks out of order"
            case .quit: "ends and starts"
            case .session: "ends of the session"
            case .kick: "guests sent away"
            case .page: "pages closed"
            }
        }
    }

    /// The seed it came from.
    public let seed: UInt64
    /// Nodes: one host, and guests.
    public let nodes: Int
    /// Guests with a browser.
    public let browsers: Int
    /// How many of them have the key of a guest by radio: one guest with two bearers.
    public let sharedKeys: Int
    /// The faults that happen.
    public let faults: [Fault]
    /// When the faults stop.
    public let faultsEnd: Duration
    /// When, after that, everything must have arrived.
    public let patience: Duration = .seconds(60)
    /// Milliseconds between two faults.
    public let faultPause: ClosedRange<Int>
    /// How often somebody does something.
    public let acts: Int
    /// Wishes of one person at a time, at most.
    public let burst: Int
    /// Songs that people want something of: the fewer, the more wishes meet.
    public let favourites: Int
    /// Songs of the library.
    public let songs: Int
    /// Whether songs have the longest identifiers there are: several votes take more than an SDU then.
    public let hasLongIDs: Bool
    /// Songs that a new session queues by itself.
    public let opens: Int
    /// How long a song is.
    public let songLength: Duration
    /// Whether a player says when a song is over.
    public let hasPlayer: Bool
    /// How wishes are weighed.
    public let fairness: Fairness
    /// Milliseconds that an SDU is on its way.
    public let latency: ClosedRange<Int>
    /// Milliseconds until a node gets to send.
    public let pullDelay: ClosedRange<Int>
    /// SDUs of a direction that may be on their way at one time.
    public let credits: Int
    /// Largest SDU of each node.
    public let sduLimits: [Int]
    /// Milliseconds that a write to a store takes.
    public let writeTime: ClosedRange<Int>
    /// How many dials in a hundred fail.
    public let failingDials: Int
    /// Milliseconds between a kill and the next start.
    public let downTime: ClosedRange<Int>
    /// Who hears whom, and who relays. Nil where everybody hears the host, and nobody relays.
    public let reach: Reach?
    /// The road that the guest is driven along. Nil where chance alone decides what goes wrong.
    public let road: Road?

    /// What a seed stands for. `nodes` overrides how many there are, `faults` what goes wrong. `hasRelays`: nodes stand behind
    /// relays in any case, and not only where the seed says so.
    public init(seed: UInt64, nodes wanted: Int? = nil, faults wantedFaults: [Fault]? = nil, hasRelays: Bool = false) {
        // Another stream than the world's, so that what is overridden here changes nothing there.
        var random = SeededGenerator(seed: seed ^ 0x5CE7_A210_5CE7_A210)
        let share = random.below(100)
        let drawn =
            switch share {
            case ..<50: random.pick(2...3)
            case ..<85: random.pick(4...7)
            default: random.pick(8...16)
            }
        self.seed = seed
        // Another stream again: a world without relays is what it was before there were any.
        var ground = SeededGenerator(seed: seed ^ 0x9E1A_75C3_9E1A_75C3)
        let mayHaveRelays = ground.chance(25) || hasRelays
        let size = min(max(wanted ?? drawn, 2), Limits.guests)
        nodes = hasRelays && !Reach.sizes.contains(size) ? ground.pick(Reach.sizes) : size
        reach = mayHaveRelays && Reach.sizes.contains(nodes) ? Reach(nodes, &ground) : nil
        // And another one for browsers: a world without them is what it was before there were any.
        var more = SeededGenerator(seed: seed ^ 0xB405_3E25_B405_3E25)
        let browsers = more.chance(40) ? more.pick([1, 1, 2, 3, 6]) ?? 1 : 0
        self.browsers = browsers
        sharedKeys = browsers > 0 && more.chance(40) ? 1 : 0
        let drawnFaults = Fault.allCases.filter { $0 == .page ? browsers > 0 && more.chance(50) : random.chance(50) }
        faults = wantedFaults ?? drawnFaults
        faultsEnd = .seconds(random.pick(nodes > 7 ? 8...14 : 10...25))
        let pause = random.pick(100...1_500)
        faultPause = pause / 4...pause
        // In a few worlds more is wished for than an outbox holds. All else is fast there, so that it arrives in time.
        let isTalkative = random.chance(3)
        burst = isTalkative ? 2 * Limits.outboxMessages : random.pick([1, 3, 8]) ?? 1
        acts = isTalkative ? 3 : random.pick(10...60) / (burst > 3 ? 2 : 1)
        favourites = isTalkative ? 2 : random.pick([1, 2, 5, 10]) ?? 2
        songs = favourites + random.pick(0...6)
        opens = random.pick(0...songs)
        hasPlayer = random.chance(40)
        songLength = random.chance(25) ? .seconds(random.pick(2...20)) : .seconds(3_600)
        fairness = Fairness(
            openSuggestions: random.pick([nil, 1, 5]) ?? nil, songsInARow: random.pick([nil, 1, 2]) ?? nil,
            majoritySkip: random.chance(50))
        let latest = isTalkative ? 4 : random.pick([4, 20, 150]) ?? 4
        latency = 1...latest
        pullDelay = 0...(isTalkative ? 1 : random.pick([1, 10, 300]) ?? 1)
        credits = random.pick(1...10)
        // What takes less passes no circuits on.
        let least = reach == nil ? Limits.leastSDUBytes : Limits.leastCarrierSDUBytes
        let limits = [least, 600, 1_024, Limits.sduBytes]
        sduLimits = (0..<Limits.guests).map { _ in random.pick(limits) ?? Limits.sduBytes }
        let slowest = random.pick(nodes > 4 ? [1, 30, 400] : [1, 30, 400, 1_500]) ?? 1
        writeTime = 0...(isTalkative ? min(slowest, 30) : slowest)
        failingDials = random.pick([0, 5, 30]) ?? 0
        downTime = random.chance(50) ? 10...300 : 100...3_000
        hasLongIDs = random.chance(25)
        road = nil
    }

    /// A host and a guest that is driven along a road. What the road says happens at its times; the seed decides the rest:
    /// how long everything takes, and which dials fail.
    public init(seed: UInt64, road: Road) {
        self.seed = seed
        self.road = road
        reach = nil
        nodes = 2
        (browsers, sharedKeys) = (0, 0)
        faults = []
        faultsEnd = road.length
        faultPause = 1_000...1_000
        acts = 0
        burst = 1
        favourites = 10
        songs = 20
        hasLongIDs = false
        opens = 20
        songLength = .seconds(86_000)
        hasPlayer = false
        fairness = Fairness()
        // A connection interval of 30 to 50 ms, as the kernel asks for.
        latency = 5...50
        pullDelay = 0...10
        credits = 3
        sduLimits = [Int](repeating: Limits.sduBytes, count: Limits.guests)
        writeTime = 0...30
        failingDials = 1
        downTime = 100...3_000
    }
}
