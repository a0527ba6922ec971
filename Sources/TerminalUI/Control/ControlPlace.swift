// SPDX-License-Identifier: Apache-2.0

import Glibc
import NodeStore

/// The socket of a state folder, and the key next to it.
package struct ControlPlace: Sendable {
    /// The socket's name in the folder.
    package static let socketName = "control"
    /// The name of the key's file in the folder.
    package static let keyName = "control-key"

    /// The folder.
    package let folder: String

    /// The place of a folder.
    package init(folder: String) { self.folder = folder }

    /// The socket's path, for people.
    package var path: String { folder + "/" + Self.socketName }

    /// Creates the socket. Nobody can connect before `listen`, and then only the owner. This process holds the folder's
    /// lock, so an existing socket is a remnant of a crash.
    func bind() throws(ControlError) -> Int32 {
        guard unlink(path) == 0 || errno == ENOENT else { throw ControlError(errno, "unlink") }
        let descriptor = try Self.make(nonBlocking: true)
        do throws(ControlError) {
            try withAddress { address, length throws(ControlError) in
                guard Glibc.bind(descriptor, address, length) == 0 else { throw ControlError(errno, "bind") }
            }
            guard chmod(path, 0o600) == 0 else { throw ControlError(errno, "chmod") }
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Connects to the socket of a running host.
    func connect() throws(ControlError) -> Int32 {
        let descriptor = try Self.make(nonBlocking: false)
        do throws(ControlError) {
            try withAddress { address, length throws(ControlError) in
                guard Glibc.connect(descriptor, address, length) == 0 else { throw ControlError(errno, "connect") }
            }
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    private static func make(nonBlocking: Bool) throws(ControlError) -> Int32 {
        let more = Int32(SOCK_CLOEXEC.rawValue) | (nonBlocking ? Int32(SOCK_NONBLOCK.rawValue) : 0)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | more, 0)
        guard descriptor >= 0 else { throw ControlError(errno, "socket") }
        return descriptor
    }

    /// Calls `body` with the socket's address. An address has room for a path of 107 bytes. A longer path is given by
    /// an open descriptor of the folder.
    private func withAddress(
        _ body: (UnsafePointer<sockaddr>, socklen_t) throws(ControlError) -> Void
    ) throws(ControlError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path) - 1
        var name = path
        var opened: Int32 = -1
        defer { if opened >= 0 { close(opened) } }
        if name.utf8.count > room {
            opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard opened >= 0 else { throw ControlError(errno, "open") }
            name = "/proc/self/fd/\(opened)/\(Self.socketName)"
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name.utf8) }
        let failure = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> ControlError? in
                do throws(ControlError) {
                    try body(address, socklen_t(MemoryLayout<sockaddr_un>.size))
                    return nil
                } catch {
                    return error
                }
            }
        }
        if let failure { throw failure }
    }
}

/// An error of the system.
struct ControlError: Error, Hashable {
    var code: Int32
    var call: String

    init(_ code: Int32, _ call: String) { (self.code, self.call) = (code, call) }
}
