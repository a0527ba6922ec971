// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// Why a change cannot be made, or a file is left alone.
public struct FixFailure: Error, Hashable, Sendable {
    /// In words that end a sentence.
    public var text: String

    init(_ text: String) { self.text = text }

    /// What errno says.
    init(code: Int32) {
        text =
            [EOPNOTSUPP, ENOSYS].contains(code)
            ? "its file system does not take that" : String(cString: strerror(code)).lowercasedFirst
    }
}

extension String {
    /// With a small letter first, unless a name in capitals begins it.
    var lowercasedFirst: String {
        guard let first, dropFirst().first?.isUppercase != true else { return self }
        return first.lowercased() + dropFirst()
    }

    /// With a capital first.
    var uppercasedFirst: String { prefix(1).uppercased() + dropFirst() }
}

/// A file of the system that is read and replaced as a whole.
///
/// A symbolic link is refused: who has put it there keeps the file elsewhere, and may write it again. So is a file with a
/// second name, which a replacement would part from it.
enum PlainFile {
    /// A file's bytes; nil where there is nothing.
    static func read(_ path: String) throws(FixFailure) -> Data? {
        guard path.hasPrefix("/") else { throw FixFailure("is no absolute path") }
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw FixFailure(code: errno) }
            return nil
        }
        try check(status)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw FixFailure("cannot be read (\(String(cString: strerror(errno))))") }
        defer { close(descriptor) }
        var bytes = Data()
        var block = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &block, block.count)
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw FixFailure("cannot be read (\(String(cString: strerror(errno))))")
            }
            guard count > 0 else { return bytes }
            bytes += block.prefix(count)
            guard bytes.count <= FixLimits.fileBytes else {
                throw FixFailure("has more than \(FixLimits.fileBytes >> 10) KiB")
            }
        }
    }

    private static func check(_ status: stat) throws(FixFailure) {
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFLNK: throw FixFailure("is a symbolic link")
        default: throw FixFailure("is no file")
        }
        guard status.st_nlink == 1 else { throw FixFailure("has a second name") }
    }

    /// Puts these bytes in the place of what is there, or of nothing, so that a power cut leaves the one or the other.
    /// Mode and owner stay; a new file has `mode`. A folder that is missing is made.
    static func replace(_ path: String, with bytes: Data, mode: mode_t = 0o644) throws(FixFailure) {
        let folder = self.folder(of: path)
        try makeFolder(folder)
        var status = stat()
        let exists = lstat(path, &status) == 0
        if exists { try check(status) }
        let draft = path + ".roadmesh-new"
        if unlink(draft) != 0, errno != ENOENT { throw FixFailure(code: errno) }
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FixFailure(code: errno) }
        var isDone = false
        defer {
            close(descriptor)
            if !isDone { unlink(draft) }
        }
        try writeAll(bytes, to: descriptor)
        // A change of owner clears bits of the mode, so it comes first. Files on some file systems have no owner to keep.
        if exists, fchown(descriptor, status.st_uid, status.st_gid) != 0, status.st_uid != geteuid() {
            throw FixFailure(code: errno)
        }
        guard fchmod(descriptor, exists ? status.st_mode & 0o7777 : mode) == 0, fsync(descriptor) == 0,
            rename(draft, path) == 0
        else { throw FixFailure(code: errno) }
        isDone = true
        sync(folder)
    }

    /// Removes a file, and the folder that it was alone in where that is one for additions (`bluetooth.service.d`).
    static func remove(_ path: String) throws(FixFailure) {
        if unlink(path) != 0, errno != ENOENT { throw FixFailure(code: errno) }
        let folder = self.folder(of: path)
        sync(folder)
        if folder.hasSuffix(".d") { rmdir(folder) }
    }

    /// Writes to a file of the kernel, which takes a value at once.
    static func write(_ bytes: Data, toKernel path: String) throws(FixFailure) {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FixFailure(code: errno) }
        defer { close(descriptor) }
        try writeAll(bytes, to: descriptor)
    }

    private static func writeAll(_ bytes: Data, to descriptor: Int32) throws(FixFailure) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { throw FixFailure(code: count == 0 ? ENOSPC : errno) }
            rest = rest.dropFirst(max(count, 0))
        }
    }

    static func makeFolder(_ path: String, mode: mode_t = 0o755) throws(FixFailure) {
        guard mkdir(path, mode) != 0, errno != EEXIST else { return }
        guard errno == ENOENT, path != "/" else { throw FixFailure(code: errno) }
        try makeFolder(folder(of: path))
        guard mkdir(path, mode) == 0 || errno == EEXIST else { throw FixFailure(code: errno) }
    }

    private static func sync(_ folder: String) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private static func folder(of path: String) -> String {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        return folder.isEmpty ? "/" : folder
    }
}

/// A folder that one process at a time has, as long as this lives.
final class FolderLock: Sendable {
    private let descriptor: Int32

    /// Takes it, and makes it where it is missing.
    init(_ folder: String) throws(FixFailure) {
        try PlainFile.makeFolder(folder, mode: 0o700)
        descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FixFailure(code: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw FixFailure("another roadmesh doctor is changing this device")
        }
    }

    deinit { close(descriptor) }
}
