// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import MeshProtocol

/// Why a node's folder cannot be used.
public enum StateFolderError: Error, Hashable, Sendable {
    /// The folder does not exist and cannot be created.
    case cannotMake(path: String)
    /// The folder cannot be read or written. `cause` is the system's error text.
    case unusable(path: String, cause: String)
    /// Another process uses the folder.
    case inUse(path: String)
    /// The identity in this file is invalid.
    case damagedIdentity(file: String)
}

/// A node's folder: its identity, and a lock. Two processes with one identity would replace each other's links.
public final class StateFolder: Sendable {
    /// The node's identity.
    public let identity: Identity
    /// The path of the folder.
    public let path: String
    /// Whether other users could read the identity before the folder was opened. They may have a copy, with which they
    /// can impersonate this node. Opening the folder has removed their rights.
    public let wasReadableByOthers: Bool
    /// The path of the identity's file.
    public var identityPath: String { Self.identityFile(path) }
    private let lock: FileLock
    private let place: PlaceLock

    static func lockFile(_ folder: String) -> String { folder + "/lock" }
    static func identityFile(_ folder: String) -> String { folder + "/identity" }

    /// Opens the folder, and creates missing files in it. The folder belongs to this process until the process ends.
    public init(opening path: String) throws(StateFolderError) {
        try Self.makeFolder(path)
        place = try Self.locked(path) { () throws(FileLock.Failure) in try PlaceLock(path) }
        lock = try Self.locked(path) { () throws(FileLock.Failure) in try FileLock(Self.lockFile(path)) }
        self.path = path
        (identity, wasReadableByOthers) = try Self.identity(path)
    }

    /// The usual folder of a user: `$XDG_STATE_HOME/roadmesh`, or `~/.local/state/roadmesh`. Nil without a home.
    public static func standardPath(environment: [String: String]) -> String? {
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/roadmesh" }
        if let home = environment["HOME"], home.hasPrefix("/") { return home + "/.local/state/roadmesh" }
        return nil
    }

    /// Returns the secret that `keep` has last stored under a name. Nil without a secret, or if other users could read
    /// it.
    public func secret(_ name: String) -> [UInt8]? {
        guard case .bytes(let stored, isWide: false) = SecretFile.read(path + "/" + name) else { return nil }
        return stored
    }

    /// Stores a secret of at most `StoreLimits.secretBytes` under a name, readable by its owner only. A power cut
    /// leaves either the new or the former secret.
    public func keep(_ secret: [UInt8], as name: String) throws(StateFolderError) {
        try Self.store(secret, in: path + "/" + name, of: path)
    }

    /// Stores a text under a name, for its owner alone to read; nil removes it. This program does not read it again.
    public func keep(text: String?, as name: String) throws(StateFolderError) {
        let file = path + "/" + name
        guard let text else {
            guard unlink(file) == 0 || errno == ENOENT else { throw Self.unusable(path, errno) }
            return
        }
        try Self.store(Array(text.utf8), in: file, of: path)
    }

    private static func makeFolder(_ path: String) throws(StateFolderError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw .cannotMake(path: path)
        }
        guard access(path, R_OK | W_OK | X_OK) == 0 else { throw unusable(path, errno) }
    }

    private static func locked<Lock>(
        _ path: String, _ take: () throws(FileLock.Failure) -> Lock
    ) throws(StateFolderError) -> Lock {
        do {
            return try take()
        } catch {
            switch error {
            case .isHeld: throw .inUse(path: path)
            case .noFile(let name): throw .unusable(path: path, cause: "\(name) is not a file")
            case .system(let code): throw unusable(path, code)
            }
        }
    }

    private static func identity(
        _ path: String
    ) throws(StateFolderError) -> (Identity, wasReadableByOthers: Bool) {
        let file = identityFile(path)
        switch SecretFile.read(file) {
        case .bytes(let stored, let isWide):
            guard let identity = Identity(stored: stored) else { throw .damagedIdentity(file: file) }
            if isWide, chmod(file, 0o600) != 0 { throw unusable(path, errno) }
            return (identity, isWide)
        case .noFile: throw .unusable(path: path, cause: "identity is not a file")
        case .failure(ENOENT): break
        case .failure(let code): throw unusable(path, code)
        }
        let identity = Identity.make()
        try store(identity.stored, in: file, of: path)
        return (identity, false)
    }

    /// Stores a secret so that a power cut leaves it complete, or not at all.
    private static func store(_ bytes: [UInt8], in file: String, of path: String) throws(StateFolderError) {
        let code = WholeFile.write(bytes, to: file, draft: file + ".new")
        guard code == 0 else { throw unusable(path, code) }
    }

    private static func unusable(_ path: String, _ code: Int32) -> StateFolderError {
        .unusable(path: path, cause: String(cString: strerror(code)))
    }
}

/// A small file that only its owner may read.
enum SecretFile {
    /// The kind of object at its path.
    enum Found {
        /// The bytes of the file, and whether other users have rights to it.
        case bytes([UInt8], isWide: Bool)
        /// Something other than a file.
        case noFile
        /// The errno of a failure.
        case failure(Int32)
    }

    static func read(_ path: String) -> Found {
        // Opening a pipe without a writer would block.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return .failure(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return .failure(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { return .noFile }
        var bytes = [UInt8](repeating: 0, count: StoreLimits.secretBytes + 1)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { return .failure(errno) }
        return .bytes(Array(bytes.prefix(count)), isWide: status.st_mode & 0o077 != 0)
    }
}
