// SPDX-License-Identifier: Apache-2.0

/// Runs a `PipeSession` between the link to the other side and the ends of its streams.
actor PipeRunner {
    /// Connects to the target of `--socket`.
    typealias Connect = @Sendable () async throws(PipeFault) -> any ByteEnds

    /// A part of the output of a stream, for its destination.
    private enum Piece: Sendable {
        case bytes([UInt8])
        case close
    }

    private struct Stream {
        let ends: any ByteEnds
        let pieces: AsyncStream<Piece>.Continuation
    }

    private var session: PipeSession
    private let standard: (any ByteEnds)?
    private let connect: Connect?
    /// Whether the input ends when the other side's input ends: a person at a terminal has nothing to add then.
    private let endsWithOther: Bool

    private var streams: [UInt32: Stream] = [:]
    /// Output of streams without a connection to their targets so far. The window of a stream limits it.
    private var early: [UInt32: [Piece]] = [:]
    private var tasks: [Task<Void, Never>] = []
    private var outgoing: [PipeFrame] = []
    private var isClosing = false
    private var sender: CheckedContinuation<Void, Never>?
    /// Sources that wait for room.
    private var waitingForRoom: [CheckedContinuation<Void, Never>] = []
    private var end: PipeEnd?
    private var waitingForEnd: CheckedContinuation<PipeEnd, Never>?
    private var beginning: CheckedContinuation<Void, Never>?
    /// The first failure of a file or socket here.
    private(set) var fault: PipeFault?

    /// A session of standard input and output.
    init(_ session: PipeSession, standard: any ByteEnds, endsWithOther: Bool) {
        (self.session, self.standard, self.endsWithOther, connect) = (session, standard, endsWithOther, nil)
    }

    /// A session of connections. A listener's side connects each to its target.
    init(_ session: PipeSession, connect: Connect?) {
        (self.session, self.connect, standard, endsWithOther) = (session, connect, nil, false)
    }

    /// The bytes that were transferred so far.
    var progress: PipeProgress {
        PipeProgress(sent: session.sent, written: session.written, connections: session.openStreams)
    }

    /// Runs the session until it ends, and everything that has arrived is written. `send` sends a message to the other
    /// side, and waits while it accepts no more.
    func run(_ send: @escaping @Sendable ([UInt8]) async throws -> Void) async -> PipeEnd {
        perform(session.start())
        let sending = Task { await self.sendAll(send) }
        let end = await untilEnded()
        // A message to a side that has left would wait until it returns.
        let farewell = Task {
            if case .interrupted = end { try? await Task.sleep(for: PipeLimits.farewell) }
            switch end {
            case .complete, .refused, .broken: return
            case .stopped, .cutShort, .unanswered, .interrupted: sending.cancel()
            }
        }
        for task in tasks { await task.value }
        closeSending()
        await sending.value
        farewell.cancel()
        return end
    }

    private func untilEnded() async -> PipeEnd {
        if let end { return end }
        return await withCheckedContinuation { waitingForEnd = $0 }
    }

    // MARK: Events

    /// A message of the other side has arrived.
    func received(_ body: [UInt8]) {
        // A later version may send more kinds of frames.
        guard let frame = PipeFrame(body) else { return }
        perform(session.received(frame))
    }

    /// The other side has said goodbye, or was not heard for too long (`isLost`).
    func otherLeft(isLost: Bool) { perform(session.otherLeft(isLost: isLost)) }

    /// A person has stopped the program. Bytes that were read are sent, and bytes that have arrived are written.
    func interrupt() { perform(session.interrupt()) }

    /// Returns when the other side has accepted the session, or the session has ended.
    func untilBegun() async {
        guard !session.hasBegun, end == nil else { return }
        await withCheckedContinuation { beginning = $0 }
    }

    /// A connection was accepted here. Without room, the connection waits for the end of another.
    func accepted(_ ends: any ByteEnds) async {
        while end == nil {
            if let (stream, actions) = session.open() {
                streams[stream] = makeStream(stream, ends)
                return perform(actions)
            }
            await withCheckedContinuation { waitingForRoom.append($0) }
        }
        ends.close(isBroken: true)
    }

    // MARK: Actions

    private func perform(_ actions: [PipeSession.Action]) {
        for action in actions {
            switch action {
            case .send(let frame): enqueue(frame)
            case .begin(let number): begin(number)
            case .connect(let number): connectTarget(number)
            case .stream(let number, let action): perform(action, number)
            case .end(let end): finish(end)
            }
        }
        beginIfPossible()
    }

    private func perform(_ action: PipeStream.Action, _ number: UInt32) {
        switch action {
        case .write(let bytes): give(.bytes(bytes), number)
        case .closeOutput: give(.close, number)
        case .read: wakeSources()
        case .complete: close(number, isBroken: false)
        case .broken: close(number, isBroken: true)
        case .send: preconditionFailure("the session sends the frames of its streams")
        }
    }

    private func give(_ piece: Piece, _ number: UInt32) {
        if let stream = streams[number] {
            stream.pieces.yield(piece)
        } else if standard == nil {
            early[number, default: []].append(piece)
        }
    }

    private func close(_ number: UInt32, isBroken: Bool) {
        early[number] = nil
        guard let stream = streams.removeValue(forKey: number) else { return }
        stream.pieces.finish()
        stream.ends.close(isBroken: isBroken)
        wakeSources()
    }

    private func finish(_ end: PipeEnd) {
        self.end = end
        for number in streams.keys.sorted() where standard == nil { close(number, isBroken: true) }
        for stream in streams.values { stream.pieces.finish() }
        wakeSources()
        waitingForEnd?.resume(returning: end)
        waitingForEnd = nil
    }

    private func beginIfPossible() {
        guard session.hasBegun || end != nil else { return }
        beginning?.resume()
        beginning = nil
    }

    // MARK: Sources and destinations

    private func makeStream(_ number: UInt32, _ ends: any ByteEnds) -> Stream {
        let (pieces, feed) = AsyncStream<Piece>.makeStream()
        let writing = Task { await self.write(pieces, to: ends, number) }
        if standard != nil { tasks.append(writing) }
        return Stream(ends: ends, pieces: feed)
    }

    private func begin(_ number: UInt32) {
        if let standard { streams[number] = makeStream(number, standard) }
        guard let ends = streams[number]?.ends else { return }
        // A read of a terminal cannot be cancelled, so nothing waits for this task.
        Task { await self.read(ends, number) }
    }

    private func connectTarget(_ number: UInt32) {
        guard let connect else { return perform(session.fail(number)) }
        Task {
            do throws(PipeFault) {
                self.connected(number, try await connect())
            } catch {
                self.failed(number, error)
            }
        }
    }

    private func connected(_ number: UInt32, _ ends: any ByteEnds) {
        let actions = session.connected(number)
        guard !actions.isEmpty, end == nil else { return ends.close(isBroken: true) }
        let stream = makeStream(number, ends)
        streams[number] = stream
        for piece in early.removeValue(forKey: number) ?? [] { stream.pieces.yield(piece) }
        perform(actions)
    }

    private func read(_ ends: any ByteEnds, _ number: UInt32) async {
        while let room = await room(number) {
            do throws(PipeFault) {
                let bytes = try await ends.read(atMost: room)
                guard end == nil else { return }
                guard let bytes else { return perform(session.endInput(number)) }
                perform(session.read(bytes, number))
            } catch {
                return failed(number, error)
            }
        }
    }

    /// How many bytes of a source may be read, as soon as there is room. Nil when nothing more is read.
    private func room(_ number: UInt32) async -> Int? {
        while end == nil, streams[number] != nil {
            let room = session.readable(number)
            if room > 0, outgoing.count < PipeLimits.outgoing { return room }
            await withCheckedContinuation { waitingForRoom.append($0) }
        }
        return nil
    }

    private func wakeSources() {
        for waiting in waitingForRoom { waiting.resume() }
        waitingForRoom = []
    }

    private func write(_ pieces: AsyncStream<Piece>, to ends: any ByteEnds, _ number: UInt32) async {
        for await piece in pieces {
            do throws(PipeFault) {
                switch piece {
                case .bytes(let bytes):
                    try await ends.write(bytes)
                    perform(session.wrote(bytes.count, number))
                case .close:
                    try await ends.closeOutput()
                    perform(session.closedOutput(number))
                    if endsWithOther { perform(session.endInput(number)) }
                }
            } catch {
                return failed(number, error)
            }
        }
    }

    private func failed(_ number: UInt32, _ error: PipeFault) {
        early[number] = nil
        // A closed connection belongs to a stream that has ended.
        if standard != nil { fault = fault ?? error }
        perform(session.fail(number))
    }

    // MARK: Sending

    private func enqueue(_ frame: PipeFrame) {
        outgoing.append(frame)
        wakeSender()
    }

    private func closeSending() {
        isClosing = true
        wakeSender()
    }

    private func wakeSender() {
        sender?.resume()
        sender = nil
    }

    private func sendAll(_ send: @Sendable ([UInt8]) async throws -> Void) async {
        while let frame = await nextFrame() {
            do {
                try await send(frame.bytes)
            } catch {
                // The link's owner reports why it has ended.
                break
            }
            wakeSources()
        }
        outgoing = []
    }

    private func nextFrame() async -> PipeFrame? {
        while outgoing.isEmpty {
            if isClosing { return nil }
            await withCheckedContinuation { sender = $0 }
        }
        return outgoing.removeFirst()
    }
}
