// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// The former settings of an adapter, in a file that survives this process but not a restart of the system. Each node
/// that uses the adapter holds a shared lock on the file, so the last one knows that it is the last.
final class SettingsRecord {
    let descriptor: Int32

    /// The record of an adapter, by its address, in a folder that is created if needed. Nil if the file cannot be
    /// opened. Former values could then not be restored, so nothing is set.
    init?(folder: String, address: String) {
        descriptor = Self.openFile("adapter-" + Self.digits(of: address), in: folder)
        guard descriptor >= 0 else { return nil }
    }

    /// Opens an adapter's file for reading and writing, in a folder that is created if needed. Negative if that fails.
    static func openFile(_ name: String, in folder: String) -> Int32 {
        try? FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let descriptor = open(folder + "/" + name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return descriptor }
        // If root creates the file in a service's folder, the service must be able to read it later.
        var status = stat()
        if geteuid() == 0, stat(folder, &status) == 0 { _ = fchown(descriptor, status.st_uid, status.st_gid) }
        return descriptor
    }

    /// An adapter's address in the form for file names.
    static func digits(of address: String) -> String { address.filter(\.isHexDigit).lowercased() }

    deinit { close(descriptor) }

    /// Locks the adapter, so that no other node starts or ends on it until `share`. Returns whether this node is alone
    /// on it, or nil if another node is starting or ending. The caller must then try again.
    func lock() -> Bool? {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
        return flock(descriptor, LOCK_SH | LOCK_NB) == 0 ? false : nil
    }

    /// Lets other nodes start and end, and holds this node's share of the adapter from then on. Returns false if
    /// another node has taken the lock in between. The caller must then try again.
    func share() -> Bool { flock(descriptor, LOCK_SH | LOCK_NB) == 0 }

    /// The recorded settings. Nil if the file has no valid settings.
    var former: AdapterSettings? {
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        let settings = try? JSONDecoder().decode(AdapterSettings.self, from: Data(bytes.prefix(count)))
        return settings.flatMap { $0.isValid ? $0 : nil }
    }

    /// Records settings. Returns false if that fails.
    func record(_ settings: AdapterSettings) -> Bool {
        guard let bytes = try? JSONEncoder().encode(settings), erase() else { return false }
        return bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) } == bytes.count
    }

    /// Empties the record.
    @discardableResult
    func erase() -> Bool { ftruncate(descriptor, 0) == 0 }
}
