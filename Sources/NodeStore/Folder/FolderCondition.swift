// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
import Glibc
import MeshProtocol

/// The state of a node's folder. The check creates, repairs and moves nothing, except a temporary file that tests the
/// disk.
public struct FolderCondition: Hashable, Sendable {
    /// The state of a file in the folder.
    public enum File: Hashable, Sendable {
        /// The file does not exist yet.
        case isMissing
        /// The file is valid.
        case isSound
        /// The file is damaged, with the reason.
        case isDamaged(String)
        /// A newer roadmesh has written the file.
        case isNewer
        /// The file cannot be read, with the reason.
        case isUnreadable(String)
    }

    /// The path of the folder.
    public var path: String
    /// Whether the folder exists. If not, the other properties describe the folder in which it would be created.
    public var exists = true
    /// The user ID of the folder's owner.
    public var owner: UInt32 = 0
    /// Why the folder cannot be written, as the system's error text; nil if it can.
    public var refusal: String?
    /// The file system is read-only.
    public var isReadOnlyDisk = false
    /// A file can be created in the folder, but not written: the disk or this user's quota is full.
    public var isFullDisk = false
    /// The path, or the path of its parent, is not a folder.
    public var isNoFolder = false
    /// A node is using the folder now.
    public var isInUse = false
    /// The node's identity.
    public var identity = File.isMissing
    /// Users other than its owner have rights to the identity. A reader of it can impersonate this node.
    public var isReadableByOthers = false
    /// The database. It is not checked while a node uses the folder.
    public var database = File.isMissing
}

extension FolderCondition {
    /// Checks a folder.
    public init(lookingAt path: String) {
        self.init(path: path, exists: access(path, F_OK) == 0)
        let place = Self.nearest(path)
        var status = stat()
        if stat(place, &status) == 0 { owner = status.st_uid }
        isNoFolder = status.st_mode & S_IFMT != S_IFDIR
        if isNoFolder {
            refusal = Self.text(ENOTDIR)
        } else if access(place, R_OK | W_OK | X_OK) != 0 {
            isReadOnlyDisk = errno == EROFS
            refusal = Self.text(errno)
        } else if exists, let failure = FolderProbe.failure(path) {
            (isReadOnlyDisk, isFullDisk) = (failure == EROFS, [ENOSPC, EDQUOT].contains(failure))
            refusal = isFullDisk ? nil : Self.text(failure)
        }
        guard exists, !isNoFolder else { return }
        isInUse = FileLock.isHeld(StateFolder.lockFile(path))
        (identity, isReadableByOthers) = Self.identity(StateFolder.identityFile(path))
        if !isInUse { database = DatabaseLook(folder: path).condition }
    }

    /// Returns the folder, or its nearest existing parent.
    public static func nearest(_ path: String) -> String {
        var place = path
        while access(place, F_OK) != 0, let slash = place.lastIndex(of: "/"), slash != place.startIndex {
            place = String(place[..<slash])
        }
        return access(place, F_OK) == 0 ? place : "/"
    }

    private static func identity(_ file: String) -> (File, isReadableByOthers: Bool) {
        switch SecretFile.read(file) {
        case .bytes(let bytes, let isWide):
            (Identity(stored: bytes) == nil ? .isDamaged("it is not an identity") : .isSound, isWide)
        case .noFile: (.isDamaged("it is not a file"), false)
        case .failure(ENOENT): (.isMissing, false)
        case .failure(let code): (.isUnreadable(text(code)), false)
        }
    }

    private static func text(_ code: Int32) -> String { String(cString: strerror(code)) }
}

/// Tests a node's operations on its disk. access(2) detects neither a full disk nor a disk that became read-only after
/// an error.
enum FolderProbe {
    /// Writes a file and syncs it. Returns the errno of a failure.
    static func failure(_ folder: String) -> Int32? {
        let path = "\(folder)/probe-\(UInt64.random(in: 0 ... .max))"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        // The file has no name while it is written, so a power cut leaves nothing behind.
        unlink(path)
        let block = [UInt8](repeating: 0xA5, count: 4_096)
        let count = write(descriptor, block, block.count)
        guard count == block.count else { return count < 0 ? errno : ENOSPC }
        return fsync(descriptor) == 0 ? nil : errno
    }
}

/// Checks a copy of a database, because opening the database itself would create files next to it, or apply its log.
private struct DatabaseLook {
    let folder: String

    var condition: FolderCondition.File {
        let source = folder + "/" + NodeStore.fileName
        guard access(source, F_OK) == 0 else { return .isMissing }
        let copy = FileManager.default.temporaryDirectory.path + "/roadmesh-look-\(UInt64.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: copy) }
        do {
            try FileManager.default.createDirectory(
                atPath: copy, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            for suffix in ["", "-wal"] where access(source + suffix, F_OK) == 0 {
                try FileManager.default.copyItem(
                    atPath: source + suffix, toPath: "\(copy)/\(NodeStore.fileName)\(suffix)")
            }
        } catch {
            return .isUnreadable("it cannot be copied for inspection")
        }
        return Self.check(copy + "/" + NodeStore.fileName)
    }

    private static func check(_ path: String) -> FolderCondition.File {
        do {
            let database = try DatabaseQueue(path: path)
            defer { try? database.close() }
            try database.read { try DatabaseOpening.check($0, Schema.migrator) }
            return .isSound
        } catch is NewerSchema {
            return .isNewer
        } catch  where Damage.isMeant(by: error) {
            return .isDamaged("\(error)")
        } catch {
            return .isUnreadable("\(error)")
        }
    }
}
