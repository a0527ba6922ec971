// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import Glibc
import Logging
import MeshNode
import MeshProtocol
import ServiceLifecycle

/// Plays a host's songs with mpv. It performs the actions of `PlayerPolicy`.
///
/// mpv is a child process (`MPVProcess`). It is started with the first song, and again if it ends or hangs.
public actor MPVPlayer: MusicPlayer, Service {
    /// Reports about the wanted songs, for one listener. If the listener falls behind, the oldest are dropped.
    public nonisolated let reports: AsyncStream<PlayerReport>
    /// The problem because of which no song can be heard, and nil when it is over. For one listener, and only the
    /// latest is kept.
    public nonisolated let problems: AsyncStream<PlayerProblem?>

    private let command: [String]
    private let file: @Sendable (Song.ID) async -> String?
    private let gain: @Sendable (Song.ID) async -> Double
    private let check: @Sendable (Song.ID) async -> Bool
    private let doubt: @Sendable (Song.ID) async -> Void
    private let limits: PlayerLimits
    private let logger: Logger
    private let reportSink: AsyncStream<PlayerReport>.Continuation
    private let problemSink: AsyncStream<PlayerProblem?>.Continuation
    private var policy: PlayerPolicy
    private var clock = NodeClock()
    private var state = State.waiting
    /// The playback that was wanted before `run`.
    private var early: Playback?
    private var isAwayEarly = false
    private var run: (number: Int, task: Task<Void, Never>, lines: AsyncStream<[UInt8]>.Continuation)?
    /// How often mpv was started.
    private(set) var starts = 0
    private var searches: [Song.ID: Task<Void, Never>] = [:]
    private var checking: Task<Void, Never>?

    private enum State {
        case waiting, running, closed
    }

    /// Creates a player. `executable` is mpv's path, as `find` returns it. `launcher` is a program with arguments that
    /// starts the program after them with fewer rights; empty starts mpv directly. `audioDevice` is one of mpv's names
    /// for a device; nil selects mpv's default.
    ///
    /// `file` returns the path of a song, or nil if it has none. `gain` returns by how many decibels a song plays
    /// louder than its file. `check` is called for a song that cannot be played. It returns true if the folder of all
    /// files is away, so that the song has not failed. `doubt` is called for a song with a wrong length.
    public init(
        executable: String, launcher: [String] = [], audioDevice: String? = nil,
        file: @escaping @Sendable (Song.ID) async -> String?,
        gain: @escaping @Sendable (Song.ID) async -> Double = { _ in 0 },
        check: @escaping @Sendable (Song.ID) async -> Bool = { _ in false },
        doubt: @escaping @Sendable (Song.ID) async -> Void = { _ in },
        logger: Logger = Logger(label: "roadmesh.player")
    ) {
        let more = audioDevice.map { ["--audio-device=\($0)"] } ?? []
        self.init(
            executable: executable, launcher: launcher, more: more, limits: .standard, file: file, gain: gain,
            check: check, doubt: doubt, logger: logger)
    }

    init(
        executable: String, launcher: [String] = [], more: [String], limits: PlayerLimits,
        file: @escaping @Sendable (Song.ID) async -> String?,
        gain: @escaping @Sendable (Song.ID) async -> Double = { _ in 0 },
        check: @escaping @Sendable (Song.ID) async -> Bool = { _ in false },
        doubt: @escaping @Sendable (Song.ID) async -> Void = { _ in },
        logger: Logger = Logger(label: "roadmesh.player")
    ) {
        command = launcher + [executable] + MPVArguments.all + more
        self.file = file
        self.gain = gain
        self.check = check
        self.doubt = doubt
        self.limits = limits
        self.logger = logger
        policy = PlayerPolicy(limits: limits)
        (reports, reportSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(limits.waitingReports))
        (problems, problemSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// mpv's arguments for playing files without sound and as fast as possible, to measure their loudness. `filter` is
    /// the name of the measuring filter.
    public static func measuringArguments(filter: String) -> [String] { MPVArguments.measuring(filter: filter) }

    /// The path of mpv on this machine. `path` is the list of folders to search. If none of them has mpv, this throws a
    /// sentence that says how to install it.
    public static func find(
        path: String? = ProcessInfo.processInfo.environment["PATH"]
    ) throws(SetupProblem) -> String {
        // A relative folder would depend on the working folder.
        let folders = (path ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":").filter { $0.hasPrefix("/") }
        for folder in folders where access("\(folder)/mpv", X_OK) == 0 { return "\(folder)/mpv" }
        throw SetupProblem(
            .unavailable,
            "The player mpv is not installed, so there would be no sound; install it with \"sudo apt install mpv\", or "
                + "keep time without sound with --player none.")
    }

    /// The process ID of the present mpv, or of the last one.
    private(set) var processID: Int32?

    /// Sets what to play from now on. Another call with the same value changes nothing.
    public func want(_ playback: Playback) {
        if state == .waiting { early = playback } else { handle(.wanted(playback)) }
    }

    /// The folder of the songs' files is away, or back.
    public func take(libraryAway isAway: Bool) {
        if state == .waiting { isAwayEarly = isAway } else { handle(.library(isAway: isAway)) }
    }

    /// Plays until the task is cancelled or the service is shut down. mpv has ended when this returns. Call it once.
    public func run() async throws {
        precondition(state == .waiting, "a player runs once")
        state = .running
        let ticking = Task { [ticks = clock.ticks] in for await _ in ticks { handle(.tick) } }
        if isAwayEarly { handle(.library(isAway: true)) }
        if let early { handle(.wanted(early)) }
        // An error means that the task was cancelled, which ends the player in the same way.
        try? await gracefulShutdown()
        state = .closed
        ticking.cancel()
        clock.wake(at: nil)
        for search in searches.values { search.cancel() }
        checking?.cancel()
        let last = run
        last?.task.cancel()
        await last?.task.value
        reportSink.finish()
        problemSink.finish()
    }

    private func handle(_ event: PlayerPolicy.Event) {
        guard state == .running else { return }
        for action in policy.handle(event, now: clock.now) { perform(action) }
        clock.wake(at: policy.deadline)
    }

    private func perform(_ action: PlayerPolicy.Action) {
        switch action {
        case .launch: launch()
        case .kill:
            logger.warning("mpv does not answer or does not move on, so it is restarted")
            run?.task.cancel()
        case .renew:
            logger.debug("mpv is restarted, since the music folder was away")
            run?.task.cancel()
        case .find(let song): search(song)
        case .check(let song): examine(song)
        case .send(let command, let number): send(command, number)
        case .report(let report): reportSink.yield(report)
        case .doubt(let song): Task { [doubt] in await doubt(song) }
        case .tell(let problem):
            logger.notice("\(problem.map { $0.problem.sentence } ?? "The music can be heard again.")")
            problemSink.yield(problem)
        }
    }

    private func launch() {
        starts += 1
        let number = starts
        let (lines, sink) = AsyncStream<[UInt8]>.makeStream(
            bufferingPolicy: .bufferingOldest(limits.waitingRequests))
        let process = MPVProcess(command: command, limits: limits, lines: lines)
        let task = Task {
            ended(
                await process.run(started: { await self.started($0) }, hear: { await self.heard($0, from: number) }),
                number)
        }
        run = (number, task, sink)
    }

    private func started(_ processID: Int32) {
        self.processID = processID
        logger.debug("mpv is started as process \(processID)")
    }

    private func send(_ command: MPVCommand, _ number: Int) {
        do {
            // If the queue is full, the request is lost and gets no answer. mpv then counts as hanging, and it does
            // hang.
            run?.lines.yield(try command.line(request: number))
        } catch {
            logger.error("a request to mpv cannot be written: \(error)")
        }
    }

    private func heard(_ line: [UInt8], from number: Int) {
        guard run?.number == number else { return }
        switch MPVMessage(line: line) {
        case .answer(let request, let answer): handle(.answered(request, answer))
        case .event(let event): handle(.said(event))
        case .log(let text): logger.debug("mpv says: \(UntrustedText.shown(text))")
        case nil: break
        }
    }

    private func ended(_ end: MPVProcess.End, _ number: Int) {
        guard run?.number == number else { return }
        run?.lines.finish()
        run = nil
        logger.debug("mpv has ended: \(end.how)")
        handle(.died(end.how, couldStart: end.couldStart))
    }

    private func examine(_ song: Song.ID) {
        checking?.cancel()
        checking = Task { [check] in
            let isAway = await check(song)
            guard !Task.isCancelled else { return }
            handle(.checked(song, isAway: isAway))
        }
    }

    private func search(_ song: Song.ID) {
        searches[song]?.cancel()
        searches[song] = Task { [file, gain] in
            let path = await file(song)
            let decibels = path == nil ? 0 : await gain(song)
            guard !Task.isCancelled else { return }
            searches[song] = nil
            handle(.found(song, path: path, gain: decibels))
        }
    }
}
