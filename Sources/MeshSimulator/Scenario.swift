// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// The parameters of a world: its nodes, the air, and its faults. All of them come from the seed.
///
/// Each kind of fault happens in half of the worlds. If one fault hides a bug that another fault would reveal, a world
/// without the first fault reveals the bug.
public struct Scenario: Hashable, Sendable {
    /// A fault. The raw value is its plural, in words.
    public enum Fault: String, CaseIterable, Sendable {
        /// A guest is out of range for some time. The two ends of its links notice this at different times, or never.
        case tunnel = "tunnels"
        /// A channel carries nothing in one direction, and no event reports that.
        case oneWay = "one-way channels"
        /// A channel breaks.
        case breaks = "broken channels"
        /// A node is killed and comes back with its store.
        case kill = "kills"
        /// A node is killed and comes back with its key, but without its store.
        case loseStore = "lost stores"
        /// A node's adapter goes away and comes back.
        case adapter = "adapters gone"
        /// A node's clock jumps.
        case clockLeap = "clock jumps"
        /// A guest's person leaves the host and comes back.
        case leave = "guests that left"
        /// An attacker changes the data of a channel.
        case tamper = "tamperings"
        /// An attacker dials the host.
        case intruder = "visits of intruders"
        /// An attacker answers instead of the host.
        case impostor = "impostors"
        /// A disk refuses all writes for some time, or does not answer.
        case disk = "disks out of order"
        /// A node ends normally, and starts again.
        case quit = "ends and starts"
        /// The driver ends the session. The next one begins like a new host, and admits all peers.
        case session = "ends of the session"
        /// The driver bans a guest.
        case kick = "guests sent away"
        /// A browser's page is closed during a request, or its link ends. Only in worlds with browsers.
        case page = "pages closed"
    }

    /// The seed of the scenario.
    public let seed: UInt64
    /// Nodes: one host, and guests.
    public private(set) var nodes = 2
    /// Guests with a browser.
    public private(set) var browsers = 0
    /// Number of browsers with the key of a guest by radio. Such a guest has two bearers.
    public private(set) var sharedKeys = 0
    /// The faults that happen.
    public private(set) var faults: [Fault] = []
    /// When the faults stop.
    public let faultsEnd: Duration
    /// Time after `faultsEnd` until everything must have arrived.
    public let patience: Duration = .seconds(60)
    /// Milliseconds between two faults.
    public private(set) var faultPause = 1_000...1_000
    /// Number of actions of people.
    public private(set) var acts = 0
    /// Maximum number of wishes of one person at a time.
    public private(set) var burst = 1
    /// Songs that people make wishes for. With fewer songs, more wishes are for the same one.
    public private(set) var favourites = 10
    /// Songs of the library.
    public private(set) var songs = 20
    /// Whether songs have the longest possible identifiers. Several votes then need more than one SDU.
    public private(set) var hasLongIDs = false
    /// Songs that a new session queues automatically.
    public private(set) var opens = 20
    /// How long a song is.
    public private(set) var songLength: Duration = .seconds(86_000)
    /// Whether a player reports the end of a song.
    public private(set) var hasPlayer = false
    /// The rule that orders wishes.
    public private(set) var fairness = Fairness()
    /// Milliseconds that an SDU is in transit. The default is a connection interval of the kernel, from 30 to 50 ms.
    public private(set) var latency = 5...50
    /// Milliseconds until a node can send.
    public private(set) var pullDelay = 0...10
    /// Maximum number of SDUs in transit in one direction.
    public private(set) var credits = 3
    /// Largest SDU of each node.
    public private(set) var sduLimits = [Int](repeating: Limits.sduBytes, count: Limits.guests)
    /// Milliseconds that a write to a store takes.
    public private(set) var writeTime = 0...30
    /// Percentage of dials that fail.
    public private(set) var failingDials = 1
    /// Milliseconds between a kill and the next start.
    public private(set) var downTime = 100...3_000
    /// The ranges and the relays. Nil if all nodes hear the host, and none relays.
    public private(set) var reach: Reach?
    /// The road that the guest is driven along. Nil if the faults are random.
    public private(set) var road: Road?

    /// The scenario of a seed. `nodes` overrides the number of nodes, `faults` the faults. With `hasRelays` there are
    /// always relays, otherwise only for some seeds.
    public init(seed: UInt64, nodes wanted: Int? = nil, faults wantedFaults: [Fault]? = nil, hasRelays: Bool = false) {
        // A separate stream from the world's, so that overrides here change nothing there.
        var random = SeededGenerator(seed: seed ^ 0x5CE7_A210_5CE7_A210)
        let share = random.below(100)
        let drawn =
            switch share {
            case ..<50: random.pick(2...3)
            case ..<85: random.pick(4...7)
            default: random.pick(8...16)
            }
        self.seed = seed
        // Another separate stream: worlds without relays stay the same as before relays existed.
        var ground = SeededGenerator(seed: seed ^ 0x9E1A_75C3_9E1A_75C3)
        let mayHaveRelays = ground.chance(25) || hasRelays
        let size = min(max(wanted ?? drawn, 2), Limits.guests)
        nodes = hasRelays && !Reach.sizes.contains(size) ? ground.pick(Reach.sizes) : size
        reach = mayHaveRelays && Reach.sizes.contains(nodes) ? Reach(nodes, &ground) : nil
        // Browsers have their own generator, so that worlds without browsers stay the same as before.
        var more = SeededGenerator(seed: seed ^ 0xB405_3E25_B405_3E25)
        let browsers = more.chance(40) ? more.pick([1, 1, 2, 3, 6]) ?? 1 : 0
        self.browsers = browsers
        sharedKeys = browsers > 0 && more.chance(40) ? 1 : 0
        let drawnFaults = Fault.allCases.filter { $0 == .page ? browsers > 0 && more.chance(50) : random.chance(50) }
        faults = wantedFaults ?? drawnFaults
        faultsEnd = .seconds(random.pick(nodes > 7 ? 8...14 : 10...25))
        let pause = random.pick(100...1_500)
        faultPause = pause / 4...pause
        // In a few worlds, people make more wishes than an outbox holds. Everything else is fast in such a world, so
        // that the wishes arrive in time.
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
        // A node with a smaller SDU forwards no circuits.
        let least = reach == nil ? Limits.leastSDUBytes : Limits.leastCarrierSDUBytes
        let limits = [least, 600, 1_024, Limits.sduBytes]
        sduLimits = (0..<Limits.guests).map { _ in random.pick(limits) ?? Limits.sduBytes }
        let slowest = random.pick(nodes > 4 ? [1, 30, 400] : [1, 30, 400, 1_500]) ?? 1
        writeTime = 0...(isTalkative ? min(slowest, 30) : slowest)
        failingDials = random.pick([0, 5, 30]) ?? 0
        downTime = random.chance(50) ? 10...300 : 100...3_000
        hasLongIDs = random.chance(25)
    }

    /// A host and a guest that is driven along a road. The road's events happen at their times. The seed determines the
    /// rest: all delays, and which dials fail.
    public init(seed: UInt64, road: Road) {
        (self.seed, self.road, faultsEnd) = (seed, road, road.length)
    }
}
