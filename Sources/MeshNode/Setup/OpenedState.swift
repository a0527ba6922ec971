// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Logging
import NodeCore
import NodeStore

/// The state of a node that outlives its runs: its folder and the database in it. The folder is locked as long as this
/// object lives.
public final class OpenedState: Sendable {
    /// The opened database.
    public let store: NodeStore.Opened
    /// The stored data of earlier runs.
    public let contents: StoredNode
    /// The state folder.
    public let folder: StateFolder

    /// The folder of cover art.
    public var artworkFolder: String { folder.path + "/artwork" }

    /// The folder of the covers that a guest has received over the air.
    public var coversFolder: String { folder.path + "/covers" }

    /// The folder for covers while they are made smaller.
    public var draftsFolder: String { folder.path + "/drafts" }

    /// The path of the state folder.
    public var path: String { folder.path }

    /// Whether an earlier run has left a session that a host can resume.
    public var hasSession: Bool { contents.host?.session != nil }

    /// The path of the index of a music folder.
    public var libraryIndex: String { folder.path + "/library.sqlite" }

    /// Opens the database in a folder.
    public convenience init(_ folder: StateFolder, logger: Logger) throws(SetupProblem) {
        try self.init(folder, idleTime: StoreLimits.idleCheckpoint, logger: logger)
    }

    /// Opens the database for tests that control when the log is emptied. An empty log has room on a full disk.
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
    /// The problem for a database in `folder` that a newer program has made; nil for any other error.
    public static func newer(_ error: NodeStoreError?, in folder: String) -> SetupProblem? {
        guard error?.code == .newer else { return nil }
        return SetupProblem(
            .cannotCreate,
            "A database in \(folder) was made by a newer roadmesh. Install that newer version, or name another folder with "
                + "--state.")
    }
}
