// SPDX-License-Identifier: Apache-2.0

import Glibc
import MeshProtocol

/// A file with the times that guests needed to find the host on an adapter. The node holds a lock on it while it runs.
/// An unlocked file belongs to a node that has ended, and says nothing about the adapter now.
final class FoundRecord {
    private let descriptor: Int32

    /// The record of an adapter, by its address, for the node that writes it. Nil if it cannot be opened or locked.
    init?(folder: String, address: String) {
        descriptor = SettingsRecord.openFile(Self.name(address), in: folder)
        guard descriptor >= 0 else { return nil }
        // A reader holds the lock briefly to check whether the file is locked.
        _ = flock(descriptor, LOCK_SH)
        write("")
    }

    deinit { close(descriptor) }

    /// Writes the times that guests have reported. Nil writes an empty record.
    func write(_ time: DialTime?) { write(time.map { "\($0.milliseconds)\n" } ?? "") }

    private func write(_ text: String) {
        _ = ftruncate(descriptor, 0)
        _ = pwrite(descriptor, text, text.utf8.count, 0)
    }

    /// The times that guests report for the node that now runs on an adapter. Nil if no node runs, or no guest has
    /// reported.
    static func read(folder: String, address: String) -> DialTime? {
        let descriptor = open(folder + "/" + name(address), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) != 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0, bytes[count - 1] == UInt8(ascii: "\n") else { return nil }
        return Int(String(decoding: bytes.prefix(count - 1), as: UTF8.self)).map(DialTime.init(milliseconds:))
    }

    private static func name(_ address: String) -> String { "found-" + SettingsRecord.digits(of: address) }
}
