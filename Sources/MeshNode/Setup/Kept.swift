// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Logging
import NodeStore

/// What of a node outlives its runs: its folder, locked as long as this lives, and the database in it.
public final class Kept: Sendable {
    /// The database.
    public let store: NodeStore.Opened
    /// What an earlier run has left in it.
    public let contents: StoredNode
    /// The folder itself.
    public let folder: StateFolder

    /// Where cover art is kept.
    public var artworkFolder: String { folder.path + "/artwork" }

    /// Where the covers are kept that a guest has got over the air.
    public var coversFolder: String { folder.path + "/covers" }

    /// Where covers are while they are made small.
    public var draftsFolder: String { folder.path + "/drafts" }

    /// Where the folder is.
    public var path: String { folder.path }

    /// Whether a host goes on with a session that an earlier run has left.
    public var hasSession: Bool { contents.host?.session != nil }

    /// Where the index of a music folder is kept.
    public var libraryIndex: String { folder.path + "/library.sqlite" }

    /// Opens the database of a folder.
    public convenience init(_ folder: StateFolder, logger: Logger) throws(SetupProblem) {
        try self.init(folder, idleTime: StoreLimits.idleCheckpoint, logger: logger)
    }

    /// The same, for a test that says itself when the database's log is emptied: one that is empty has room on a full disk.
    package init(_ folder: StateFolder, idleTime: Duration?, logger: Logger) throws(SetupProblem) {
        self.folder = folder
        do throws(NodeStoreError) {
            store = try NodeStore.open(folder: folder.path, now: Date(), idleTime: idleTime, logger: logger)
            contents = try store.store.contents()
        } catch {
            if let problem = SetupProblem.newer(error, in: folder.path) { throw problem }
            throw SetupProblem(
                .cannotCreate,
                "Cannot use the database in \(folder.path) (\(error.cause)); make room and make it writable, or name another "
                    + "folder with --state.")
        }
    }
}

extension SetupProblem {
    /// What to do about a database in `folder` that a newer program made; nil for any other error.
    public static func newer(_ error: NodeStoreError?, in folder: String) -> SetupProblem? {
        guard error?.code == .newer else { return nil }
        return SetupProblem(
            .cannotCreate,
            "A database in \(folder) was made by a newer roadmesh. Install that version again, or name another folder with "
                + "--state.")
    }
}
