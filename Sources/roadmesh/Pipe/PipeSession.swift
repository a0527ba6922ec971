// SPDX-License-Identifier: Apache-2.0

/// Decides about a session of two pipes: how it begins, which streams it has, and how it ends.
struct PipeSession {
    /// An action for the owner.
    enum Action: Hashable, Sendable {
        case send(PipeFrame)
        /// A stream has opened: read its source, as `PipeStream.readable` allows.
        case begin(UInt32)
        /// A stream of the other side has opened: connect to the target, then call `connected` or `fail`.
        case connect(UInt32)
        /// An action for the ends of a stream. A frame to send is `send` instead.
        case stream(UInt32, PipeStream.Action)
        /// The session has ended. Nothing follows.
        case end(PipeEnd)
    }

    private enum State: Hashable {
        /// The caller waits for the listener's hello.
        case calling
        case running
        /// The only stream is complete here. The other side may still wait for this side's last frame.
        case complete
        case ended
    }

    let kind: PipeKind
    private let name: [UInt8]
    private let isCaller: Bool
    private var state = State.calling
    private var streams: [UInt32: PipeStream] = [:]
    private var lastStream: UInt32 = 0
    private var hasHeardOver = false
    /// Bytes of streams that have ended.
    private var sentBefore: UInt64 = 0
    private var writtenBefore: UInt64 = 0

    /// A caller's session. The name is `PipeLimits.sessionBytes` random bytes.
    init(calling name: [UInt8], _ kind: PipeKind) {
        (self.name, self.kind, isCaller) = (name, kind, true)
    }

    /// A listener's session, which a caller's hello has named.
    init(answering name: [UInt8], _ kind: PipeKind) {
        (self.name, self.kind, isCaller) = (name, kind, false)
    }

    /// The only stream of standard input and output.
    static let standard: UInt32 = 0

    /// Number of open streams.
    var openStreams: Int { streams.count }
    /// Bytes of this side that are sent.
    var sent: UInt64 { streams.values.reduce(sentBefore) { $0 + $1.sent } }
    /// Bytes of the other side that are written to their destination.
    var written: UInt64 { streams.values.reduce(writtenBefore) { $0 + $1.written } }
    /// Whether all input of the other side has arrived.
    var hasInputOfOther: Bool { streams[Self.standard]?.hasInputOfOther ?? (state == .complete) }
    /// Whether both sides have begun.
    var hasBegun: Bool { state != .calling }
    /// How many bytes of a stream's source may be read now.
    func readable(_ stream: UInt32) -> Int { state == .ended ? 0 : streams[stream]?.readable ?? 0 }

    // MARK: Begin and end

    /// The session begins.
    mutating func start() -> [Action] {
        let hello = Action.send(.hello(session: name, carries: kind))
        guard !isCaller else { return [hello] }
        return [hello] + run()
    }

    private mutating func run() -> [Action] {
        state = .running
        guard kind == .standard else { return [] }
        streams[Self.standard] = PipeStream(Self.standard, window: PipeLimits.window)
        return [.begin(Self.standard)]
    }

    /// A person has stopped this side.
    mutating func interrupt() -> [Action] {
        if state == .complete { return end(.complete) }
        guard state != .ended else { return [] }
        return [.send(.abort)] + end(.interrupted)
    }

    /// The other side has said goodbye, or was not heard for too long (`isLost`).
    mutating func otherLeft(isLost: Bool) -> [Action] {
        switch state {
        case .complete: end(.complete)
        case .ended: []
        case .calling: end(.unanswered)
        case .running: end(streams.isEmpty ? .stopped : .cutShort(isLost: isLost))
        }
    }

    private mutating func end(_ end: PipeEnd) -> [Action] {
        state = .ended
        // A connection that is still open is incomplete.
        let broken: [Action] = kind == .socket ? streams.keys.sorted().map { .stream($0, .broken) } : []
        for number in streams.keys { forget(number) }
        return broken + [.end(end)]
    }

    private mutating func forget(_ number: UInt32) {
        guard let stream = streams.removeValue(forKey: number) else { return }
        sentBefore += stream.sent
        writtenBefore += stream.written
    }

    // MARK: Streams of this side

    /// A connection was accepted. Returns the number of its stream, and nil before the session runs or if there are
    /// too many.
    mutating func open() -> (stream: UInt32, actions: [Action])? {
        guard isCaller, state == .running, streams.count < PipeLimits.connections else { return nil }
        lastStream += 1
        streams[lastStream] = PipeStream(lastStream, window: PipeLimits.socketWindow)
        return (lastStream, [.send(.open(lastStream)), .begin(lastStream)])
    }

    /// The target of a stream is connected.
    mutating func connected(_ stream: UInt32) -> [Action] { streams[stream] == nil ? [] : [.begin(stream)] }

    /// Bytes of a stream's source were read.
    mutating func read(_ bytes: [UInt8], _ stream: UInt32) -> [Action] { update(stream) { $0.read(bytes) } }

    /// A stream's source has ended.
    mutating func endInput(_ stream: UInt32) -> [Action] { update(stream) { $0.endInput() } }

    /// Bytes are written to a stream's destination.
    mutating func wrote(_ count: Int, _ stream: UInt32) -> [Action] { update(stream) { $0.wrote(count) } }

    /// A stream's destination has everything, and is closed.
    mutating func closedOutput(_ stream: UInt32) -> [Action] { update(stream) { $0.closedOutput() } }

    /// A stream's source or destination has failed here.
    mutating func fail(_ stream: UInt32) -> [Action] { update(stream, isHere: true) { $0.fail() } }

    // MARK: The other side

    /// A frame has arrived.
    mutating func received(_ frame: PipeFrame) -> [Action] {
        switch (frame, state) {
        case (_, .ended): return []
        case (.hello(name, kind), .calling) where isCaller: return run()
        case (.refuse(let why), _): return end(why == .restarted && hasBegun ? .cutShort(isLost: false) : .refused(why))
        case (.abort, _): return otherLeft(isLost: false)
        case (.over, _):
            hasHeardOver = true
            return state == .complete ? end(.complete) : []
        case (.open(let number), .running): return opened(number)
        case (.data(let number, _), _), (.end(let number, _), _), (.credit(let number, _), _), (.done(let number), _),
            (.reset(let number), _):
            return update(number) { $0.received(frame) }
        default: return []
        }
    }

    private mutating func opened(_ number: UInt32) -> [Action] {
        guard kind == .socket, !isCaller, number > lastStream, streams.count < PipeLimits.connections else {
            return [.send(.reset(number))]
        }
        lastStream = number
        streams[number] = PipeStream(number, window: PipeLimits.socketWindow)
        return [.connect(number)]
    }

    private mutating func update(
        _ number: UInt32, isHere: Bool = false, _ decide: (inout PipeStream) -> [PipeStream.Action]
    ) -> [Action] {
        guard state != .ended, var stream = streams[number] else { return [] }
        let actions = decide(&stream)
        streams[number] = stream
        var result: [Action] = []
        for action in actions {
            switch action {
            case .send(let frame): result.append(.send(frame))
            case .complete where kind == .standard:
                forget(number)
                state = .complete
                result.append(.send(.over))
                if hasHeardOver { result += end(.complete) }
            case .broken where kind == .standard: result += end(.broken(isHere: isHere))
            case .complete, .broken:
                forget(number)
                result.append(.stream(number, action))
            default: result.append(.stream(number, action))
            }
        }
        return result
    }
}

/// How a session has ended.
enum PipeEnd: Hashable, Sendable {
    /// Every byte of both directions is written to its destination.
    case complete
    /// A session of connections has ended while none was open.
    case stopped
    /// The other side has left, or was lost, before its last byte.
    case cutShort(isLost: Bool)
    /// A file or socket has failed, here or at the other side.
    case broken(isHere: Bool)
    /// The listener does not accept the session.
    case refused(PipeRefusal)
    /// The other side has never answered.
    case unanswered
    /// A person has stopped this side.
    case interrupted
}
