// SPDX-License-Identifier: Apache-2.0

import BrokerBearer
import DemocracyDJ
import FoundationEssentials
import Glibc
import Logging
import MeshNode
import MeshProtocol
import NodeCore
import NodeStore

/// Runs hosts and guests in one process that reach each other only through a broker, for `scripts/bench broker`:
///
///     broker-load mqtt://127.0.0.1:1883/group HOSTS GUESTS SECONDS FOLDER
///
/// It prints `joined` when all guests have joined. It then reads commands from its standard input. `idle` sends nothing
/// for SECONDS and prints the cost. `vote` makes one guest of each host vote, one after another, and prints the times.
@main
struct BrokerLoad {
    /// The output, one object per line.
    struct Report: Encodable {
        var event: String
        var sessions: Int
        /// Seconds since the start.
        var joined: Double?
        /// Seconds from a vote until every guest of its host has shown it, per host.
        var votes: [Double]?
        /// Bytes of all nodes over the network in both directions, with all headers, while no node sent anything, and
        /// the seconds of that time.
        var idleBytes: UInt64?
        var idleSeconds: Double?
        /// How often guests have lost their host since the start.
        var lost = 0
        /// Resident memory of this process, in bytes.
        var resident: Int
        /// Processor time of this process since the start, in seconds.
        var processor: Double
    }

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 6, let hosts = Int(arguments[2]), let guests = Int(arguments[3]),
            let seconds = Double(arguments[4])
        else {
            print("usage: broker-load URL HOSTS GUESTS SECONDS FOLDER")
            exit(64)
        }
        let broker = try BrokerAddress(arguments[1])
        let started = ContinuousClock.now
        let parties = try await withThrowingTaskGroup(of: Party.self) { group in
            for number in 0..<hosts {
                group.addTask { try await Party(broker, guests: guests, in: "\(arguments[5])/\(number)") }
            }
            var parties: [Party] = []
            for try await party in group { parties.append(party) }
            return parties
        }
        let sessions = hosts * guests
        var report = Report(event: "joined", sessions: sessions, resident: resident(), processor: processorTime())
        report.joined = (ContinuousClock.now - started) / .seconds(1)
        say(report)
        var round = 0
        while let command = readLine() {
            report = try await command == "idle" ? idle(parties, seconds: seconds) : vote(parties, round)
            if command != "idle" { round += 1 }
            report.sessions = sessions
            report.lost = await lost(parties)
            say(report)
        }
    }

    private static func idle(_ parties: [Party], seconds: Double) async throws -> Report {
        let before = await total(parties)
        let began = ContinuousClock.now
        try await Task.sleep(for: .seconds(seconds))
        let bytes = await total(parties) - before
        var report = Report(event: "idle", sessions: 0, resident: resident(), processor: processorTime())
        (report.idleBytes, report.idleSeconds) = (bytes, (ContinuousClock.now - began) / .seconds(1))
        return report
    }

    private static func vote(_ parties: [Party], _ round: Int) async throws -> Report {
        var votes: [Double] = []
        for party in parties { votes.append(try await party.vote(round)) }
        var report = Report(event: "vote", sessions: 0, resident: resident(), processor: processorTime())
        report.votes = votes
        return report
    }

    private static func total(_ parties: [Party]) async -> UInt64 {
        var bytes: UInt64 = 0
        for party in parties { bytes += await party.bytes() }
        return bytes
    }

    private static func lost(_ parties: [Party]) async -> Int {
        var lost = 0
        for party in parties { lost += await party.lost() }
        return lost
    }

    private static func say(_ report: Report) {
        guard let data = try? JSONEncoder().encode(report) else { return }
        let line = Array(data) + [0x0A]
        _ = line.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }

    private static func resident() -> Int {
        let pages = FileManager.default.contents(atPath: "/proc/self/statm")
            .map { String(decoding: $0, as: UTF8.self).split(separator: " ") }
        return (pages.flatMap { Int($0[1]) } ?? 0) * sysconf(Int32(_SC_PAGESIZE))
    }

    private static func processorTime() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let seconds = { (time: timeval) in Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }
}

/// A host and its guests.
struct Party: Sendable {
    private let host: Member
    private let guests: [Member]

    /// Creates the nodes. Returns when all guests see the queue.
    init(_ broker: BrokerAddress, guests: Int, in folder: String) async throws {
        let songs = (1...50).map { Song(id: "s\($0)", title: "Song \($0)", artist: "A", duration: 3_600) }
        let host = try Member(
            "Host", broker, folder + "/host", .host, .host(Hosting(SongLibrary(songs), wallClockSeconds: 1_000)))
        self.host = host
        self.guests = try (0..<guests).map {
            try Member("Guest \($0)", broker, folder + "/\($0)", .guest, .guest(wanted: host.peer.id))
        }
        for guest in self.guests { try await guest.shows { !$0.queue.isEmpty && $0.connectedPeers.count == guests } }
    }

    /// Makes a guest vote, and waits until all guests show the vote. Returns the seconds that this took.
    func vote(_ round: Int) async throws -> Double {
        let voter = guests[round % guests.count]
        let song = "s\(round + 2)"
        let started = ContinuousClock.now
        await voter.node.send(.guest(.vote(song)))
        for guest in guests {
            try await guest.shows { $0.queue.contains { $0.song.id == song && $0.votes > 0 } }
        }
        return (ContinuousClock.now - started) / .seconds(1)
    }

    /// How often the party's guests have lost the host.
    func lost() async -> Int {
        var lost = 0
        for guest in guests { lost += await guest.lost }
        return lost
    }

    func bytes() async -> UInt64 {
        var bytes = await host.radio.carried
        for guest in guests { bytes += await guest.radio.carried }
        return bytes
    }
}

/// A node of a party, and the state it shows.
struct Member: Sendable {
    let node: Node
    let peer: Peer
    let radio: BrokerBearer
    private let screen: Screen

    init(
        _ name: String, _ broker: BrokerAddress, _ path: String, _ role: NodeDescription.Role, _ part: NodeCore.Part
    ) throws {
        let logger = Logger(label: "load") { _ in SwiftLogNoOpLogHandler() }
        let folder = try StateFolder(path: path)
        let kept = try OpenedState(folder, logger: logger)
        peer = Peer(id: folder.identity.peerID, name: name)
        radio = BrokerBearer(broker, peer: peer, service: ServiceType.democracyDJ.uuid, logger: logger)
        node = Node(
            part, NodeDescription(role: role, peer: peer, radio: radio.name, service: .democracyDJ),
            identity: folder.identity, radio: radio, store: kept.store, contents: kept.contents, logger: logger)
        let screen = Screen()
        self.screen = screen
        Task { [node] in
            for await event in node.output {
                switch event {
                case .snapshot(let snapshot, isStale: false): await screen.show(snapshot)
                case .peerDisconnected: await screen.lose()
                default: break
                }
            }
        }
        Task { [node] in
            try await node.run()
            withExtendedLifetime(kept) {}
        }
    }

    /// How often a link was lost.
    var lost: Int { get async { await screen.lost } }

    func shows(_ condition: @escaping @Sendable (HostSnapshot) -> Bool) async throws {
        await screen.shows(condition)
    }
}

/// The state that a node shows. Callers can wait for a condition on it.
actor Screen {
    private var snapshot: HostSnapshot?
    private var waiting: [(condition: @Sendable (HostSnapshot) -> Bool, waiter: CheckedContinuation<Void, Never>)] = []

    /// How often the node has lost a link.
    private(set) var lost = 0

    func lose() { lost += 1 }

    func show(_ new: HostSnapshot) {
        snapshot = new
        let due = waiting.filter { $0.condition(new) }
        waiting.removeAll { $0.condition(new) }
        for one in due { one.waiter.resume() }
    }

    func shows(_ condition: @escaping @Sendable (HostSnapshot) -> Bool) async {
        if let snapshot, condition(snapshot) { return }
        await withCheckedContinuation { waiting.append((condition, $0)) }
    }
}
