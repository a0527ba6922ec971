// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import MeshNode
import MeshProtocol
import MeshSession
import TerminalUI

/// `roadmesh ping HOST`
struct PingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ping", abstract: "Measure the round trip to a host, and to each relay on the way.",
        discussion: """
            It joins the host as a guest, and measures with the pings of the protocol, which every host answers. Ctrl-C ends it \
            with a summary. The exit code is 0 if the host has answered, 1 if it has answered no ping, and 69 if it was not \
            reached.
            """)

    @OptionGroup var target: PingTarget

    @Option(
        name: [.short, .long], parsing: .unconditional,
        help: ArgumentHelp("Stop after this many pings; without it, Ctrl-C stops.", valueName: "n"))
    var count: BoundedNumber<PingCounts>?

    @Option(
        name: [.short, .long], parsing: .unconditional,
        help: ArgumentHelp("Seconds between two pings, from 0.02 to 3600.", valueName: "seconds"))
    var interval = Seconds<PingIntervals>(1)

    @OptionGroup(title: "The host") var proof: HostProof
    @OptionGroup(title: "The node") var options: NodeOptions
    @OptionGroup(title: "The broker") var broker: BrokerOptions

    func run() async throws {
        let isLive = Terminal.hasScreen(ProcessInfo.processInfo.environment)
        let style: PingReporter.Style = options.json ? .json : isLive ? .live : .lines
        let run = try PingRun(target, proof, options, at: broker, PingReporter(style))
        try await run.measure(count: count?.value, interval: interval.duration, isTrace: false)
    }
}

/// `roadmesh trace HOST`
struct TraceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace", abstract: "Show the way to a host: each relay, with round trip and loss.",
        discussion: """
            The signal strength is that of the first link, which this device has itself. The exit code is 0 if the host has \
            answered, 1 if it has answered no ping, and 69 if it was not reached.
            """)

    @OptionGroup var target: PingTarget

    @Option(
        name: [.short, .long], parsing: .unconditional,
        help: ArgumentHelp("Pings to each node on the way.", valueName: "n"))
    var count = BoundedNumber<PingCounts>(PingLimits.traceCount)

    @OptionGroup(title: "The host") var proof: HostProof
    @OptionGroup(title: "The node") var options: NodeOptions
    @OptionGroup(title: "The broker") var broker: BrokerOptions

    func run() async throws {
        let run = try PingRun(target, proof, options, at: broker, PingReporter(options.json ? .json : .summary))
        try await run.measure(count: count.value, interval: .seconds(PingLimits.traceInterval), isTrace: true)
    }
}

/// The host of `ping` and `trace`.
struct PingTarget: ParsableArguments {
    @Argument(help: "The host, by its name or the first eight digits of its id.", completion: .heardHosts)
    var host: String

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Seconds to look for the host, at most 86400.", valueName: "seconds"))
    var wait = Seconds<Waits>(PingLimits.wait)
}

/// Bounds of `--count`.
enum PingCounts: NumberBounds {
    static let range = 1...Int.max
}

/// Bounds of `--interval`.
enum PingIntervals: SecondsBounds {
    static let range = PingLimits.leastInterval...PingLimits.longestInterval
}

/// Bounds of `--wait`.
enum Waits: SecondsBounds {
    static let range = 0.1...Double(PipeLimits.longestWait)
}

/// Pings a host, and the relays on the route to it.
struct PingRun: Sendable {
    private let host: String
    private let wait: Duration
    private let guest: MeshGuest
    private let local: Peer
    private let reporter: PingReporter
    private let folder: (any Sendable)?

    init(
        _ target: PingTarget, _ proof: HostProof, _ options: NodeOptions, at broker: BrokerOptions,
        _ reporter: PingReporter
    ) throws(SetupProblem) {
        let (secret, service) = try proof.secret()
        var options = options
        if let service { options.service = service.text }
        host = try checkedHost(target.host)
        wait = target.wait.duration
        self.reporter = reporter
        let node = try LinkNode(options, at: broker, .guest, name: "ping \(hostName().prefix(20))")
        (local, folder) = (node.node.description.peer, node.folder)
        guest = node.guest(wanting: host, secret: secret, patience: nil, usesRelays: true)
    }

    /// Measures until it has sent `count` pings, or until a signal.
    func measure(count: Int?, interval: Duration, isTrace: Bool) async throws {
        reporter.begin(local)
        let stop = PingStop()
        let signals = LinkSignals.watch { [stop] in await stop.stop() }
        defer { signals.cancel() }
        let result: Result<Void, any Error>
        do {
            result = try await guest.executeThenClose { messages in
                let listening = Task { try await Self.listen(messages, stop) }
                let result = await pings(count, interval, stop)
                listening.cancel()
                if case .failure(MeshCoreError.refused(let reason)) = await listening.result {
                    return .failure(SetupProblem(reason, by: host))
                }
                return result
            }
        } catch {
            throw SetupProblem.from(error)
        }
        try result.get()
    }

    /// A host sends its state to each guest. The state is read, so that the link does not wait, and is not used.
    private static func listen(
        _ messages: AsyncThrowingStream<ReceivedMessage, any Error>, _ stop: PingStop
    ) async throws {
        do {
            for try await _ in messages {}
            await stop.stop()
        } catch {
            await stop.stop()
            throw error
        }
    }

    private func pings(_ count: Int?, _ interval: Duration, _ stop: PingStop) async -> Result<Void, any Error> {
        guard await isReached(stop) else {
            guard await stop.isSignalled else {
                return .failure(SetupProblem(notReached: host, within: wait))
            }
            return .failure(CancellationError())
        }
        var figures = PathFigures()
        var last: MeshPath?
        var rssi: Int?
        let began = ContinuousClock.now
        var number = 0
        while number < count ?? .max, await !stop.isStopped {
            number += 1
            let path = await guest.path()
            if let path, let host = await guest.host {
                rssi = path.rssi ?? rssi
                if last?.hops != path.hops || last?.relay != path.relay {
                    figures.follow(hops: path.hops, relay: path.relay?.displayName, host: host.displayName)
                    reporter.show(path, host)
                }
                last = path
            }
            var times: [Duration?] = []
            for hop in 1...max(figures.hops.count, 1) {
                let time = path == nil ? nil : await guest.ping(hop: hop)
                times.append(time)
                figures.add(time, hop: hop)
            }
            reporter.show(number, times, figures, rssi)
            if number < count ?? .max { await stop.sleep(until: began + interval * number) }
        }
        reporter.end(figures, rssi)
        guard figures.isAnswered else {
            return .failure(SetupProblem(.failed, "\(host) has answered none of \(number) pings."))
        }
        return .success(())
    }

    private func isReached(_ stop: PingStop) async -> Bool {
        let alarm = Task {
            try? await Task.sleep(for: wait)
            if !Task.isCancelled { await stop.giveUp() }
        }
        defer { alarm.cancel() }
        let watching = Task {
            for await state in await guest.connectionState where state == .connected { return await stop.reached() }
        }
        defer { watching.cancel() }
        return await stop.untilReached()
    }
}

/// The events that end the wait of a ping.
actor PingStop {
    /// A signal, or the end of the session.
    private(set) var isStopped = false
    private(set) var isSignalled = false
    private var isConnected: Bool?
    private var waiting: CheckedContinuation<Bool, Never>?
    private var sleeping: Task<Void, Never>?

    /// A signal, or the end of the session.
    func stop() {
        (isStopped, isSignalled) = (true, true)
        sleeping?.cancel()
        answer(false)
    }

    /// The host is linked.
    func reached() { answer(true) }

    /// The host was not found in time.
    func giveUp() { answer(false) }

    private func answer(_ isReached: Bool) {
        guard isConnected == nil else { return }
        isConnected = isReached
        waiting?.resume(returning: isReached)
        waiting = nil
    }

    /// Returns whether the host is linked, when that is known.
    func untilReached() async -> Bool {
        if let isConnected { return isConnected }
        return await withCheckedContinuation { waiting = $0 }
    }

    /// Sleeps until a time or a stop.
    func sleep(until time: ContinuousClock.Instant) async {
        guard !isStopped else { return }
        let sleeping = Task { _ = try? await Task.sleep(until: time, clock: .continuous) }
        self.sleeping = sleeping
        await sleeping.value
    }
}
