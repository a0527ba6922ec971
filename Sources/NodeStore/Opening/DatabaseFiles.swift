// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// An error of a system call.
struct SystemProblem: Error, CustomStringConvertible {
    let code: Int32
    let what: String

    /// Creates a problem with the system's message for an `errno`.
    init(_ what: String, _ code: Int32 = errno) {
        self.code = code
        self.what = what
    }

    var description: String { "cannot \(what): \(String(cString: strerror(code)))" }
}

/// The files of a database, including the log and the index that SQLite keeps next to it.
struct DatabaseFiles: Sendable {
    let folder: String
    /// The name of the database without its suffix.
    var name = "roadmesh"
    var path: String { folder + "/" + name + ".sqlite" }

    private static let suffixes = ["", "-wal", "-shm"]

    /// Creates the file if it is missing, and makes it readable by its owner only. SQLite creates the other files with
    /// the same rights. Returns the reason if the path is not a regular file.
    func prepare() throws -> String? {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor < 0, errno != EEXIST { throw SystemProblem("make \(path)") }
        if descriptor >= 0 { close(descriptor) }
        for file in Self.suffixes.map({ path + $0 }) {
            var status = stat()
            if stat(file, &status) != 0 {
                if errno == ENOENT, file != path { continue }
                throw SystemProblem("look at \(file)")
            }
            // If the path is a pipe, SQLite would block.
            guard status.st_mode & S_IFMT == S_IFREG else {
                return file == path ? "is not a file" : "has a log that is not a file"
            }
        }
        guard descriptor < 0 else { return nil }
        // SQLite would open a read-only file, and fail only at the first vote.
        guard access(path, R_OK | W_OK) == 0 else { throw SystemProblem("write \(path)") }
        guard access(folder, R_OK | W_OK | X_OK) == 0 else { throw SystemProblem("write \(folder)") }
        try protect()
        return nil
    }

    /// Removes the rights of other users.
    private func protect() throws {
        for file in Self.suffixes.map({ path + $0 }) {
            var status = stat()
            guard stat(file, &status) == 0, status.st_mode & 0o777 != 0o600 else { continue }
            guard chmod(file, 0o600) == 0 else { throw SystemProblem("protect \(file)") }
        }
    }

    /// Moves the files aside under new names, with which `sqlite3` can still open them together.
    func setAside(_ reason: String, now: Date) throws -> Damage {
        let time = now.ISO8601Format().filter { $0 != "-" && $0 != ":" }
        let stem = folder + "/\(name).damaged-" + time
        var aside = stem + ".sqlite"
        var count = 1
        while Self.suffixes.contains(where: { access(aside + $0, F_OK) == 0 }) {
            count += 1
            aside = "\(stem)-\(count).sqlite"
        }
        // The database is last, because SQLite deletes a log without a database.
        for suffix in Self.suffixes.reversed() {
            guard rename(path + suffix, aside + suffix) == 0 || (errno == ENOENT && !suffix.isEmpty) else {
                throw SystemProblem("move \(path + suffix) away")
            }
        }
        return Damage(path: aside, reason: reason)
    }
}
