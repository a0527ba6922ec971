// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import Glibc
import Logging
import MeshNode
import MeshProtocol
import ServiceLifecycle

/// What a media key asks for: on a keyboard, a desktop or a steering wheel.
public enum MediaCommand: Hashable, Sendable {
    /// Play.
    case play
    /// Pause.
    case pause
    /// Pause while something plays, play otherwise.
    case playPause
    /// The next song.
    case next
    /// The song before.
    case previous
    /// How loud, in percent.
    case volume(Int)
}

/// Is a media player on the session bus (MPRIS), so that whatever handles media keys finds it and shows what plays.
///
/// A head unit may have no session bus, or one that comes later: that is no error. It is looked for after 1, 2, 4 …
/// seconds, and then once a minute.
public actor MediaKeys: Service {
    /// What people want, for one listener. Of what nobody takes, the newest are kept.
    public nonisolated let commands: AsyncStream<MediaCommand>

    /// Whether it is on a bus under a name: each change.
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

    /// A player for the session bus that the environment names.
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

    /// Where the session bus is: as the environment says, or where systemd has it; nil where neither is said.
    static func sessionBus(_ environment: [String: String]) -> String? {
        if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty { return address }
        guard let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") else { return nil }
        // In an address, all but these bytes have to be escaped (D-Bus specification, "Server Addresses").
        let path = folder.utf8.map { byte in
            let isPlain = Character(Unicode.Scalar(byte)).isLetter && byte < 128 || (48...57).contains(byte)
            return isPlain || "-_/.\\".utf8.contains(byte)
                ? String(Character(Unicode.Scalar(byte))) : "%" + Hex.text([byte])
        }
        return "unix:path=\(path.joined())/bus"
    }

    /// Shows what is to be heard. It costs nothing to say it again.
    public func show(_ playback: Playback, _ details: SongDetails? = nil) {
        handle(.show(playback, details))
    }

    /// Is on the bus until the task is cancelled or the service is shut down. Once.
    public func run() async throws {
        precondition(!isRunning, "media keys run once")
        isRunning = true
        let ticking = Task { [ticks = clock.ticks] in for await _ in ticks { handle(.tick) } }
        handle(.tick)
        // It throws where the task is cancelled, which is an end as good as another.
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
        case .note(let why): logger.debug("no media keys: \(why); the session bus is looked for again now and then")
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
            // After what is being performed: it is an event of its own.
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
