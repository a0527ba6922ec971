// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import FoundationEssentials
import GRDB
import Logging
import MeshProtocol

/// What a node must not forget, in one SQLite database: whom it has met, what it still has to say to them and how far
/// it has heard them (`docs/protocol.md`, "Resend and resume"), and what its host and its guest were at.
///
/// One process uses a database; `StateFolder` sees to that.
public final class NodeStore: Sendable {
    /// A store that was opened.
    public struct Opened: Sendable {
        /// The store.
        public let store: NodeStore
        /// Where the database is now that was damaged. Nil where all is well.
        public let setAside: String?
    }

    /// The database's name in its folder.
    public static let fileName = "roadmesh.sqlite"

    let database: DatabaseQueue
    private let folder: String
    private let logger: Logger
    /// Only what is on disk; changed on the database's own queue.
    private let written: NIOLockedValueBox<WrittenState>
    /// The files as this store has left them; changed on the database's own queue.
    private let stamp: NIOLockedValueBox<DatabaseStamp>
    /// For how long nothing is written before the log goes to the database; nil for tests, for which it never does.
    private let idleTime: Duration?
    /// Waits until nothing was written for a while.
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

    /// Opens the database of a folder that exists, or makes it. One that is damaged is set aside, never deleted, and a new one is
    /// begun; `now` is for its name. Throws `.newer`, and changes nothing, if a newer program made the database.
    public static func open(
        folder: String, now: Date, logger: Logger = Logger(label: "roadmesh.store")
    ) throws(NodeStoreError) -> Opened {
        try open(folder: folder, now: now, idleTime: StoreLimits.idleCheckpoint, logger: logger)
    }

    /// The same, for a test that says itself when the log goes to the database.
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

    /// All that is stored. A conversation that cannot have been like that is left out and logged. It reads the disk, for
    /// milliseconds.
    public func contents() throws(NodeStoreError) -> StoredNode {
        try NodeStoreError.wrapping(folder) {
            // There is one connection, so no write comes in between.
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

    /// Writes a batch as one transaction: it outlasts a power cut when this returns. Where it throws, nothing of it is
    /// written. Batches are written one after another. It does not end early where its task is cancelled: what is half
    /// told to the disk is to be known.
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
                // What else has failed, failed for that.
                return .failure(error)
            }
            return .failure(told)
        }
    }

    // MARK: The files

    /// Throws where somebody else has been at the files: what is written now could be lost.
    private func checkFiles() throws(NodeStoreError) {
        if let harm = stamp.withLockedValue(\.harm) { throw NodeStoreError(.vanished, cause: harm) }
    }

    /// The files are as this store has left them just now. Throws where they are others.
    private func noteFiles() throws(NodeStoreError) {
        if let harm = stamp.withLockedValue({ $0.noteWrite() }) { throw NodeStoreError(.vanished, cause: harm) }
    }

    /// Moves what is in the log to the database. It does nothing where that is not possible: it is done with a later
    /// write. `mode` other than passive is for tests.
    func checkpoint(_ mode: Database.CheckpointMode = .passive) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            database.asyncWriteWithoutTransaction { [self] db in
                defer { continuation.resume() }
                do {
                    try checkOpen(db)
                    // What the log has become is not for the database.
                    try checkFiles()
                } catch {
                    return logger.debug("the log is left alone: \(error)")
                }
                do {
                    _ = try db.checkpoint(mode)
                } catch {
                    logger.debug("the log stays as it is: \(error)")
                }
                // On a full disk it has written a part: that was nobody else.
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
        // One alarm for a burst of writes: it looks how long the last one is ago.
        guard !isWaiting else { return }
        let task = Task { [weak self, idle] in
            while let until = idle.withLockedValue({ Self.end(of: &$0, after: idleTime) }) {
                guard (try? await Task.sleep(until: until, clock: .continuous)) != nil else { return }
            }
            await self?.checkpoint()
        }
        idle.withLockedValue { $0.task = task }
    }

    /// Until when there has to be no write; nil where there was none for long enough, and nobody waits any more.
    private static func end(of idle: inout Idle, after time: Duration) -> ContinuousClock.Instant? {
        let until = idle.lastWrite + time
        if until > .now { return until }
        idle.isWaiting = false
        return nil
    }

    /// SQLite ends the program where it is asked about a database that was closed.
    private func checkOpen(_ db: Database) throws {
        if db.sqliteConnection == nil { throw NodeStoreError(.failed, cause: "the store is closed") }
    }

    /// Ends the use of the database; what is being written is finished first. A store that is closed fails to read and to
    /// write.
    public func close() {
        idle.withLockedValue { $0.task?.cancel() }
        if let harm = stamp.withLockedValue(\.harm) {
            // SQLite would tidy up, and put into the database what somebody else has put into the log. It stays open
            // until the process ends.
            logger.error("the database is left as it is: \(harm)")
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

/// What of the host's and the guest's state is on disk, to write only what has changed.
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
