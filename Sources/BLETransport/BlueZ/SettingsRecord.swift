// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// The former settings of an adapter, in a file that outlives this process and not this run of the system. Who holds a shared lock
/// on it uses the adapter, so that the last one can tell that it is.
final class SettingsRecord {
    let descriptor: Int32

    /// The record of an adapter, by its address, in a folder that is made where it is missing. Nil where it cannot be had: then
    /// former values could not be put back, and nothing is set.
    init?(folder: String, address: String) {
        descriptor = Self.openFile("adapter-" + Self.digits(of: address), in: folder)
        guard descriptor >= 0 else { return nil }
    }

    /// An adapter's file in a folder that is made where it is missing, to read and write. Negative where it cannot be had.
    static func openFile(_ name: String, in folder: String) -> Int32 {
        try? FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let descriptor = open(folder + "/" + name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return descriptor }
        // In a service's folder root's file is the service's, which has to read it later.
        var status = stat()
        if geteuid() == 0, stat(folder, &status) == 0 { _ = fchown(descriptor, status.st_uid, status.st_gid) }
        return descriptor
    }

    /// An adapter's address as it is in the name of a file.
    static func digits(of address: String) -> String { address.filter(\.isHexDigit).lowercased() }

    deinit { close(descriptor) }

    /// Does something with the adapter while no other node starts or ends on it, and holds this node's share of it from then on.
    /// False where another one starts or ends just now: it is to be tried
    /// again.
    func holding(_ body: (_ isAlone: Bool) -> Void) -> Bool {
        let isAlone = flock(descriptor, LOCK_EX | LOCK_NB) == 0
        guard isAlone || flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return false }
        body(isAlone)
        return !isAlone || flock(descriptor, LOCK_SH | LOCK_NB) == 0
    }

    /// What is recorded; nil where nothing is, or nothing that makes sense.
    var former: AdapterSettings? {
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        let settings = try? JSONDecoder().decode(AdapterSettings.self, from: Data(bytes.prefix(count)))
        return settings.flatMap { $0.isValid ? $0 : nil }
    }

    /// Records them. False where that fails.
    func record(_ settings: AdapterSettings) -> Bool {
        guard let bytes = try? JSONEncoder().encode(settings), erase() else { return false }
        return bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) } == bytes.count
    }

    /// Nothing is recorded any more.
    @discardableResult
    func erase() -> Bool { ftruncate(descriptor, 0) == 0 }
}
