// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// The system has refused something.
struct SystemProblem: Error, CustomStringConvertible {
    let code: Int32
    let what: String

    /// What `errno` says now, or said before.
    init(_ what: String, _ code: Int32 = errno) {
        self.code = code
        self.what = what
    }

    var description: String { "cannot \(what): \(String(cString: strerror(code)))" }
}

/// The files that a database is: its own, and those that SQLite keeps beside it.
struct DatabaseFiles: Sendable {
    let folder: String
    /// The database's name without its ending.
    var name = "roadmesh"
    var path: String { folder + "/" + name + ".sqlite" }

    private static let suffixes = ["", "-wal", "-shm"]

    /// Makes the file where there is none, and sees to it that its owner alone can read it. SQLite makes the others
    /// like it. Returns what is the matter where something else than a file is in its place.
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
            // SQLite would wait for a pipe.
            guard status.st_mode & S_IFMT == S_IFREG else {
                return file == path ? "is no file" : "has a log that is no file"
            }
        }
        guard descriptor < 0 else { return nil }
        // SQLite would go on with what it can only read, and say so with the first vote.
        guard access(path, R_OK | W_OK) == 0 else { throw SystemProblem("write \(path)") }
        guard access(folder, R_OK | W_OK | X_OK) == 0 else { throw SystemProblem("write \(folder)") }
        try protect()
        return nil
    }

    /// Takes from others what rights they have.
    private func protect() throws {
        for file in Self.suffixes.map({ path + $0 }) {
            var status = stat()
            guard stat(file, &status) == 0, status.st_mode & 0o777 != 0o600 else { continue }
            guard chmod(file, 0o600) == 0 else { throw SystemProblem("protect \(file)") }
        }
    }

    /// Gives the files another name, under which `sqlite3` opens them together.
    func setAside(_ reason: String, now: Date) throws -> Damage {
        let time = now.ISO8601Format().filter { $0 != "-" && $0 != ":" }
        let stem = folder + "/\(name).damaged-" + time
        var aside = stem + ".sqlite"
        var count = 1
        while Self.suffixes.contains(where: { access(aside + $0, F_OK) == 0 }) {
            count += 1
            aside = "\(stem)-\(count).sqlite"
        }
        // The database itself last: SQLite deletes a log without one.
        for suffix in Self.suffixes.reversed() {
            guard rename(path + suffix, aside + suffix) == 0 || (errno == ENOENT && !suffix.isEmpty) else {
                throw SystemProblem("move \(path + suffix) away")
            }
        }
        return Damage(path: aside, reason: reason)
    }
}
