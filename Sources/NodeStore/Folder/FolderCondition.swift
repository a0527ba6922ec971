// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import GRDB
import Glibc
import MeshProtocol

/// What a node's folder is like. Nothing in it is made, repaired or moved, but for a file that is written to try the disk,
/// and gone again.
public struct FolderCondition: Hashable, Sendable {
    /// What one of its files is like.
    public enum File: Hashable, Sendable {
        /// There is none yet.
        case isMissing
        /// It is as it should be.
        case isSound
        /// It is not, and why.
        case isDamaged(String)
        /// A newer roadmesh has made it.
        case isNewer
        /// It cannot be looked at, and why.
        case isUnreadable(String)
    }

    /// Where it is.
    public var path: String
    /// Whether it is there; where it is not, the rest is about the folder that it would be made in.
    public var exists = true
    /// The user whom it belongs to, by number.
    public var owner: UInt32 = 0
    /// Why it cannot be written, in the system's words; nil where it can.
    public var refusal: String?
    /// The whole disk is to be read only.
    public var isReadOnlyDisk = false
    /// A file can be made in it, and nothing written: the disk is full, or this user's share of it.
    public var isFullDisk = false
    /// It, or what it would be made in, is something else than a folder.
    public var isNoFolder = false
    /// A node is running with it now.
    public var isInUse = false
    /// Who this node is.
    public var identity = File.isMissing
    /// Others than its owner have rights to the identity: somebody who reads it can pass for this node.
    public var isReadableByOthers = false
    /// What it keeps. Not looked at while a node writes it.
    public var database = File.isMissing
}

extension FolderCondition {
    /// Looks at a folder.
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

    /// The folder, or the one above it that there is.
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
            (Identity(stored: bytes) == nil ? .isDamaged("it is no identity") : .isSound, isWide)
        case .noFile: (.isDamaged("it is no file"), false)
        case .failure(ENOENT): (.isMissing, false)
        case .failure(let code): (.isUnreadable(text(code)), false)
        }
    }

    private static func text(_ code: Int32) -> String { String(cString: strerror(code)) }
}

/// Tries what a node does to its disk. access(2) does not know of a disk that has made itself read-only after an error, nor
/// of one that is full.
enum FolderProbe {
    /// Writes a file and syncs it. Returns what errno says where that fails.
    static func failure(_ folder: String) -> Int32? {
        let path = "\(folder)/probe-\(UInt64.random(in: 0 ... .max))"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        // It is written without a name, so that nothing is left of it whenever the power goes.
        unlink(path)
        let block = [UInt8](repeating: 0xA5, count: 4_096)
        let count = write(descriptor, block, block.count)
        guard count == block.count else { return count < 0 ? errno : ENOSPC }
        return fsync(descriptor) == 0 ? nil : errno
    }
}

/// Checks a copy of a database: opening the database itself would leave files beside it, or take its log in.
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
            return .isUnreadable("it cannot be copied to be looked at")
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
