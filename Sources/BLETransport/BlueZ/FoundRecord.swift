// SPDX-License-Identifier: Apache-2.0

import Glibc
import MeshProtocol

/// How soon guests found the node that hosts on an adapter, in a file that the node holds a lock on for as long as it runs: what
/// nobody holds is of a node that has ended, and says nothing of the adapter as it is now.
final class FoundRecord {
    private let descriptor: Int32

    /// The record of an adapter, by its address, for a node that writes it. Nil where it cannot be had.
    init?(folder: String, address: String) {
        descriptor = SettingsRecord.openFile(Self.name(address), in: folder)
        guard descriptor >= 0 else { return nil }
        // A reader checks whether it is held, which takes a moment.
        _ = flock(descriptor, LOCK_SH)
        write("")
    }

    deinit { close(descriptor) }

    /// Writes what guests have said, nil for nothing.
    func write(_ time: DialTime?) { write(time.map { "\($0.milliseconds)\n" } ?? "") }

    private func write(_ text: String) {
        _ = ftruncate(descriptor, 0)
        _ = pwrite(descriptor, text, text.utf8.count, 0)
    }

    /// What guests say of the node that runs on an adapter now. Nil where none runs, or none has said anything.
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
