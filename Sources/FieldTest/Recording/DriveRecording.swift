// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Logging
import MeshNode
import NodeCore
import NodeStore
import ServiceLifecycle

/// A recording: it collects a node's events, and writes them once a second.
public actor DriveRecording: Service {
    /// A mark that is set at a certain time of the drive.
    public struct TimedMark: Hashable, Sendable {
        /// Time since the start.
        public var after: Duration
        /// The text of the mark.
        public var text: String

        /// A mark.
        public init(after: Duration, text: String) {
            self.after = after
            self.text = text
        }
    }

    /// The drive's number in the store.
    public nonisolated let number: Int64
    /// How much of the recording is on the disk, for one listener. Only the latest value is kept.
    public nonisolated let progress: AsyncStream<DriveUplink.Progress>
    private let progressSink: AsyncStream<DriveUplink.Progress>.Continuation
    private let store: DriveStore
    private let node: Node
    private let events: AsyncStream<NodeEvent>
    private let marks: [TimedMark]
    private let gpsd: GPSDClient?
    private let logger: Logger
    private let origin: ContinuousClock.Instant
    private var recorder: Recorder
    private let packetSource: (any PacketSource)?
    private var packets: PacketRecorder?

    private var waiting: [String] = []
    private var written = 0
    private var missing = 0
    private var hasEnded = false
    private var isFailing = false

    /// Starts a recording of a node that does not run yet. Its header is on the disk when this returns. `origin` is the
    /// same time as the header's `began`. If it `isShared`, it will be sent to a collector as well. With
    /// a `gpsd` it has positions. With `packets` it has files of the packets around its gaps, in `stateFolder`.
    public init(
        _ node: Node, _ header: DriveHeader, in store: DriveStore, origin: ContinuousClock.Instant,
        marks: [TimedMark], isShared: Bool = false, gpsd: GPSDAddress? = nil,
        packets source: (any PacketSource)? = nil, stateFolder: String, logger: Logger
    ) throws(NodeStoreError) {
        (progress, progressSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.node = node
        self.store = store
        self.marks = marks
        self.logger = logger
        self.origin = origin
        self.gpsd = gpsd.map { GPSDClient(address: $0, logger: logger) }
        recorder = Recorder(header.role, origin: origin, isShared: isShared, load: .now)
        events = node.events()
        let number = try store.begin(header: JSONLine.text(header), sharing: isShared ? .shared : .none)
        (self.number, packetSource) = (number, source)
        packets = source.map {
            PacketRecorder($0, PacketFolder(stateFolder: stateFolder, drive: number), origin: origin, logger: logger)
        }
    }

    /// Records until the node stops.
    public func run() async {
        let writer = Task { await self.writeRegularly() }
        let marker = Task { await self.setMarks() }
        let follower = Task { await self.followPosition() }
        let reader = Task { [packetSource] in await packetSource?.run() }
        for await event in events {
            if case .bye = event { take(recorder.take(ProcessLoad.now, now: .now)) }
            take(recorder.take(event, now: .now))
            packets?.take(event)
        }
        packets?.write(now: .now, isEnd: true)
        packetSource?.close()
        await reader.value
        marker.cancel()
        follower.cancel()
        writer.cancel()
        await writer.value
        await write()
        progressSink.yield(DriveUplink.Progress(number: number, rows: written, isOver: true))
        progressSink.finish()
        store.close()
    }

    private func take(_ rows: [DriveRow]) {
        for row in rows where !hasEnded {
            if case .end = row.what { hasEnded = true }
            // The last line of a full recording reports that it is full.
            let isFull = !hasEnded && written + waiting.count >= StoreLimits.driveLines - 1
            waiting.append(JSONLine.text(isFull ? DriveRow(at: .seconds(row.at), .end("full")) : row))
            hasEnded = hasEnded || isFull
        }
        guard waiting.count > FieldTestLimits.waitingRows else { return }
        missing += waiting.count - FieldTestLimits.waitingRows
        waiting.removeFirst(waiting.count - FieldTestLimits.waitingRows)
    }

    private func writeRegularly() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: FieldTestLimits.writeInterval)
            guard !Task.isCancelled else { return }
            take(recorder.tick(.now, now: .now))
            await write()
            packets?.write(now: .now)
        }
    }

    /// Writes the queued rows in one transaction. Rows that the disk refuses stay queued.
    private func write() async {
        guard !waiting.isEmpty, written < StoreLimits.driveLines else { return }
        if missing > 0 {
            waiting.insert(JSONLine.text(DriveRow(at: .now - origin, .missing(missing))), at: 0)
            missing = 0
        }
        let (batch, isEnd) = (waiting, hasEnded)
        waiting = []
        do throws(NodeStoreError) {
            try await store.append(batch, to: number, isEnd: isEnd)
            written += batch.count
            progressSink.yield(DriveUplink.Progress(number: number, rows: written, isOver: false))
            if isFailing { await node.send(.cleared(code: HeadUnitProblem.driveNotRecordedCode)) }
            isFailing = false
        } catch {
            waiting = batch + waiting
            if !isFailing { logger.error("the drive is not recorded: \(error)") }
            isFailing = true
            // The notice is sent each time, because the node may show its own disk's failure instead. A node that has
            // ended accepts none.
            if !hasEnded { await node.send(.notice(Notice(.driveNotRecorded(error.cause)))) }
        }
    }

    private func followPosition() async {
        await gpsd?.follow { [weak self] position in await self?.take(position) }
    }

    private func take(_ position: PositionRow) { take(recorder.take(position, now: .now)) }

    private func setMarks() async {
        for mark in marks.sorted(by: { $0.after < $1.after }) {
            try? await Task.sleep(until: origin + mark.after, clock: .continuous)
            guard !Task.isCancelled else { return }
            await node.send(.mark(mark.text))
        }
    }
}
