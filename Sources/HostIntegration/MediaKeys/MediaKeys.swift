// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import Glibc
import Logging
import MeshNode
import MeshProtocol
import ServiceLifecycle

/// The command of a media key on a keyboard, a desktop or a steering wheel.
public enum MediaCommand: Hashable, Sendable {
    /// Play.
    case play
    /// Pause.
    case pause
    /// Pause if a song plays, otherwise play.
    case playPause
    /// The next song.
    case next
    /// The previous song.
    case previous
    /// The volume, in percent.
    case volume(Int)
    /// Continue at this position of the song.
    case seek(Duration)
}

/// A media player on the session bus (MPRIS), so that programs that handle media keys find it and show the current
/// song.
///
/// A head unit may have no session bus, or one that starts later. That is not an error: `MediaKeys` tries again after
/// 1, 2, 4 … seconds, and then once a minute.
public actor MediaKeys: Service {
    /// People's commands, for one listener. If the listener does not read, only the newest are kept.
    public nonisolated let commands: AsyncStream<MediaCommand>

    /// Whether the player has a name on a bus; one element for each change.
    nonisolated let presence: AsyncStream<Bool>

    private let address: @Sendable () -> String?
    private let logger: Logger
    private let presenceSink: AsyncStream<Bool>.Continuation
    private let commandSink: AsyncStream<MediaCommand>.Continuation
    private var policy: MediaKeysPolicy
    private var clock = NodeClock()
    private var bus: (number: Int, bus: MediaBus, reader: Task<Void, Never>)?
    private var buses = 0
    private var isRunning = false

    /// Creates a player for the session bus that the environment names.
    public init(logger: Logger = Logger(label: "roadmesh.mediakeys")) {
        self.init(address: { Self.sessionBus(ProcessInfo.processInfo.environment) }, limits: .standard, logger: logger)
    }

    init(
        address: @escaping @Sendable () -> String?, limits: MediaKeysLimits,
        logger: Logger = Logger(label: "roadmesh.mediakeys")
    ) {
        self.address = address
        self.logger = logger
        policy = MediaKeysPolicy(instance: getpid(), limits: limits)
        (presence, presenceSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (commands, commandSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(limits.waitingCommands))
    }

    /// The address of the session bus, from the environment or systemd's default. Nil without either.
    static func sessionBus(_ environment: [String: String]) -> String? {
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty { return address }
        guard let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") else { return nil }
        // In an address, all bytes except these must be escaped (D-Bus specification, "Server Addresses").
        let path = folder.utf8.map { byte in
            let isPlain = Character(Unicode.Scalar(byte)).isLetter && byte < 128 || (48...57).contains(byte)
            return isPlain || "-_/.\\".utf8.contains(byte)
                ? String(Character(Unicode.Scalar(byte))) : "%" + Hex.text([byte])
        }
        return "unix:path=\(path.joined())/bus"
    }

    /// Publishes a playback. Repeated calls with the same value are cheap.
    public func show(_ playback: Playback, _ details: SongDetails? = nil) {
        handle(.show(playback, details))
    }

    /// Stays on the bus until the task is cancelled or the service is shut down. Call it once.
    public func run() async throws {
        precondition(!isRunning, "media keys run once")
        isRunning = true
        let ticking = Task { [ticks = clock.ticks] in for await _ in ticks { handle(.tick) } }
        handle(.tick)
        // `gracefulShutdown` throws if the task is cancelled, which is a normal end.
        try? await gracefulShutdown()
        isRunning = false
        ticking.cancel()
        clock.wake(at: nil)
        let last = bus
        last?.bus.close()
        await last?.reader.value
        commandSink.finish()
        presenceSink.finish()
    }

    private func handle(_ event: MediaKeysPolicy.Event) {
        let actions = policy.handle(event, now: clock.now)
        guard isRunning else { return }
        for action in actions { perform(action) }
        clock.wake(at: policy.deadline)
    }

    private func perform(_ action: MediaKeysPolicy.Action) {
        switch action {
        case .open: open()
        case .close:
            bus?.bus.close()
            bus = nil
        case .requestName(let name): bus?.bus.requestName(name)
        case .show(let state, let isNewStatus, let isNewTrack, let hasJumped):
            bus?.bus.show(
                .init(
                    state: state, isNewStatus: isNewStatus, isNewTrack: isNewTrack, hasJumped: hasJumped,
                    place: { [clock] in state.place(clock.now) }))
        case .command(let command): commandSink.yield(command)
        case .note(let why): logger.debug("no media keys: \(why); RoadMesh looks for the session bus from time to time")
        }
    }

    private func open() {
        buses += 1
        let number = buses
        do throws(MediaBus.Failure) {
            guard let address = address() else { throw MediaBus.Failure(text: "there is no session bus") }
            let opened = try MediaBus(address: address)
            let reader = Task { for await event in opened.events { heard(event, from: number) } }
            bus = (number, opened, reader)
        } catch {
            // In a new task, since this is a separate event and must come after the current actions.
            Task { handle(.unreachable(error.text)) }
        }
    }

    private func heard(_ event: MediaBusEvent, from number: Int) {
        guard bus?.number == number else { return }
        if event == .named { presenceSink.yield(true) }
        if case .closed = event { presenceSink.yield(false) }
        handle(.said(event))
    }
}
