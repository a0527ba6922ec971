// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NIOConcurrencyHelpers
import FoundationEssentials
import GRDB
import Logging
import NodeCore

/// The durable state of a node in one SQLite database: its conversations with peers, with unacknowledged messages and
/// received numbers (`docs/protocol.md`, "Resend and resume"), and the states of its host and its guest.
///
/// Only one process uses a database, which `StateFolder` ensures.
public final class NodeStore: Sendable {
    /// An opened store.
    public struct Opened: Sendable {
        /// The store.
        public let store: NodeStore
        /// The path to which a damaged database was moved. Nil without damage.
        public let setAside: String?
    }

    /// The name of the database in its folder.
    public static let fileName = "roadmesh.sqlite"

    let database: DatabaseQueue
    private let folder: String
    private let logger: Logger
    /// The state on disk. Changed only on the database's queue.
    private let written: NIOLockedValueBox<WrittenState>
    /// The state of the files after this store's last write. Changed only on the database's queue.
    private let stamp: NIOLockedValueBox<DatabaseStamp>
    /// The idle time until the log is checkpointed; nil in tests, to never do it.
    private let idleTime: Duration?
    /// The wait for the idle time.
    private let idle = NIOLockedValueBox(Idle())

    private struct Idle {
        var lastWrite = ContinuousClock.now
        var isWaiting = false
        var task: Task<Void, Never>?
    }

    private init(
        _ database: DatabaseQueue, folder: String, written: WrittenState, idleTime: Duration?, logger: Logger
    ) {
        self.database = database
        self.idleTime = idleTime
        self.folder = folder
        self.logger = logger
        self.written = NIOLockedValueBox(written)
        stamp = NIOLockedValueBox(DatabaseStamp(folder + "/" + Self.fileName))
    }

    deinit { idle.withLockedValue { $0.task?.cancel() } }

    /// Opens the database of an existing folder, or creates it. A damaged database is moved aside, never deleted, and a
    /// new one is created. The new name of the damaged database contains `now`. Throws `.newer`, and changes nothing,
    /// if a newer program made the database.
    public static func open(
        folder: String, now: Date, logger: Logger = Logger(label: "roadmesh.store")
    ) throws(NodeStoreError) -> Opened {
        try open(folder: folder, now: now, idleTime: StoreLimits.idleCheckpoint, logger: logger)
    }

    /// Opens the database for a test that triggers checkpoints itself.
    package static func open(
        folder: String, now: Date, idleTime: Duration?, logger: Logger
    ) throws(NodeStoreError) -> Opened {
        try NodeStoreError.wrapping(folder) {
            let files = DatabaseFiles(folder: folder)
            let opening = DatabaseOpening(files: files, migrator: Schema.migrator, now: now)
            let (database, written, setAside) = try opening.open { db in
                _ = try ConversationTables.read(db, nil)
                return WrittenState(host: try WrittenHost(db), guest: try WrittenGuest(db))
            }
            if let setAside {
                logger.error("the database \(files.path) \(setAside.reason); it is now \(setAside.path)")
            }
            let store = NodeStore(database, folder: folder, written: written, idleTime: idleTime, logger: logger)
            return Opened(store: store, setAside: setAside?.path)
        }
    }

    /// Returns everything that is stored. Leaves out invalid conversations, and logs them. Reads the disk, for
    /// milliseconds.
    public func contents() throws(NodeStoreError) -> StoredNode {
        try NodeStoreError.wrapping(folder) {
            // The store has a single connection, so no write can happen between these reads.
            return try database.unsafeRead { db in
                try checkOpen(db)
                return StoredNode(
                    remembered: try ConversationTables.read(db, logger), host: try WrittenHost(db)?.record,
                    guest: try WrittenGuest(db)?.record, invitations: try InvitationTable.read(db),
                    bans: try BanTable.read(db), drivers: try PeerList.drivers.read(db),
                    browserDrivers: try PeerList.browserDrivers.read(db),
                    knownHosts: try PeerList.knownHosts.read(db), unanswered: try UnansweredTable.read(db))
            }
        }
    }

    /// Writes a batch as one transaction. It is on disk when this returns. If it throws, nothing of it is written.
    /// Batches are written one after another. Cancelling the task does not end the write early, because the result must
    /// be known.
    public func write(_ batch: StoreBatch) async throws(NodeStoreError) {
        guard !batch.isEmpty else { return }
        let result = await withCheckedContinuation { continuation in
            database.asyncWriteWithoutTransaction { [self] db in
                continuation.resume(returning: commit(batch, db))
            }
        }
        try result.get()
    }

    private func commit(_ batch: StoreBatch, _ db: Database) -> Result<Void, NodeStoreError> {
        var state = written.withLockedValue(\.self)
        do {
            try checkOpen(db)
            try checkFiles()
        } catch {
            return .failure(NodeStoreError(error, folder: folder))
        }
        do {
            try db.inTransaction(.immediate) {
                try ConversationTables.write(batch, db)
                try state.become(host: batch.host, guest: batch.guest, db)
                if let invitations = batch.invitations { try InvitationTable.write(invitations, db) }
                if let bans = batch.bans { try BanTable.write(bans, db) }
                if let drivers = batch.drivers { try PeerList.drivers.write(drivers, db) }
                if let drivers = batch.browserDrivers { try PeerList.browserDrivers.write(drivers, db) }
                if let knownHosts = batch.knownHosts { try PeerList.knownHosts.write(knownHosts, db) }
                if let unanswered = batch.unanswered { try UnansweredTable.write(unanswered, db) }
                return .commit
            }
            try noteFiles()
            written.withLockedValue { [state] in $0 = state }
            checkpointWhenIdle()
            return .success(())
        } catch {
            let told = NodeStoreError(error, folder: folder, db)
            do throws(NodeStoreError) {
                try noteFiles()
            } catch {
                // All other failures are consequences of this one.
                return .failure(error)
            }
            return .failure(told)
        }
    }

    // MARK: Files

    /// Throws if another program has changed the files, because a write could be lost.
    private func checkFiles() throws(NodeStoreError) {
        if let harm = stamp.withLockedValue(\.harm) { throw NodeStoreError(.vanished, cause: harm) }
    }

    /// Records the state of the files after a write of this store. Throws if the files were replaced.
    private func noteFiles() throws(NodeStoreError) {
        if let harm = stamp.withLockedValue({ $0.noteWrite() }) { throw NodeStoreError(.vanished, cause: harm) }
    }

    /// Moves the log's contents to the database. If that is not possible now, a later write triggers it. Only tests use
    /// a `mode` other than passive.
    func checkpoint(_ mode: Database.CheckpointMode = .passive) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            database.asyncWriteWithoutTransaction { [self] db in
                defer { continuation.resume() }
                do {
                    try checkOpen(db)
                    // A log that another program has changed must not be moved to the database.
                    try checkFiles()
                } catch {
                    return logger.debug("the log is not changed: \(error)")
                }
                do {
                    _ = try db.checkpoint(mode)
                } catch {
                    logger.debug("the log stays as it is: \(error)")
                }
                // On a full disk the checkpoint may have written a part, so a changed file is not another program's
                // change.
                do throws(NodeStoreError) {
                    try noteFiles()
                } catch {
                    logger.error("\(error.cause)")
                }
            }
        }
    }

    private func checkpointWhenIdle() {
        guard let idleTime else { return }
        let isWaiting = idle.withLockedValue { state in
            defer { (state.lastWrite, state.isWaiting) = (.now, true) }
            return state.isWaiting
        }
        // A burst of writes has one timer, which checks the time of the last write.
        guard !isWaiting else { return }
        let task = Task { [weak self, idle] in
            while let until = idle.withLockedValue({ Self.end(of: &$0, after: idleTime) }) {
                guard (try? await Task.sleep(until: until, clock: .continuous)) != nil else { return }
            }
            await self?.checkpoint()
        }
        idle.withLockedValue { $0.task = task }
    }

    /// Returns the end of the idle time. Nil if it has passed; the timer then ends.
    private static func end(of idle: inout Idle, after time: Duration) -> ContinuousClock.Instant? {
        let until = idle.lastWrite + time
        if until > .now { return until }
        idle.isWaiting = false
        return nil
    }

    /// Throws for a closed connection, because SQLite would abort the program.
    private func checkOpen(_ db: Database) throws {
        if db.sqliteConnection == nil { throw NodeStoreError(.failed, cause: "the store is closed") }
    }

    /// Closes the database after pending writes. A closed store fails to read and to write.
    public func close() {
        idle.withLockedValue { $0.task?.cancel() }
        if let harm = stamp.withLockedValue(\.harm) {
            // When SQLite closes a database, it checkpoints the log, including another program's changes. So the
            // database stays open until the process ends.
            logger.error("the database is not changed: \(harm)")
            _ = Unmanaged.passRetained(database)
            return
        }
        do {
            try database.close()
        } catch {
            logger.warning("the database was not closed: \(error)")
        }
    }
}

/// The parts of the host's and the guest's state that are on disk, so that only changes are written.
struct WrittenState: Sendable {
    var host: WrittenHost?
    var guest: WrittenGuest?

    mutating func become(host new: HostRecord?, guest newGuest: GuestRecord?, _ db: Database) throws {
        if let new {
            var host = host ?? WrittenHost()
            try host.become(new, db)
            self.host = host
        }
        if let newGuest {
            var guest = guest ?? WrittenGuest()
            try guest.become(newGuest, db)
            self.guest = guest
        }
    }
}
