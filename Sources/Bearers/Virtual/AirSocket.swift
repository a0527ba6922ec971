// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// Unix sockets of the virtual radio. Each call returns a descriptor or a negative errno, never blocks, and contains no
/// policy.
enum AirSocket {
    /// Longest path of a Unix socket, in bytes (unix(7)).
    static let pathBytes = 107

    /// A datagram socket bound to a path: a radio's receiver.
    static func receiver(at path: String) -> Int {
        open(SOCK_DGRAM) { bind($0, toPath: path) }
    }

    /// A listening packet socket bound to a path: a PSM.
    static func listener(at path: String, backlog: Int32) -> Int {
        open(SOCK_SEQPACKET) { descriptor in
            let bound = bind(descriptor, toPath: path)
            return bound == 0 ? listen(descriptor, backlog) : bound
        }
    }

    /// A packet socket connected to a listener. Its own name tells the listener which radio dials.
    static func channel(to path: String, as name: String, sendBuffer: Int32) -> Int {
        open(SOCK_SEQPACKET) { descriptor in
            setSendBuffer(descriptor, sendBuffer)
            // A leading NUL puts the name into the abstract namespace, so no file must be removed.
            let bound = withAddress("\0" + name) { Glibc.bind(descriptor, $0, $1) }
            return bound == 0 ? withAddress(path) { connect(descriptor, $0, $1) } : bound
        }
    }

    /// Accepts a waiting channel, and returns the far end's name.
    static func accept(_ listener: Int32, sendBuffer: Int32) -> (descriptor: Int, name: String) {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let descriptor = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                clinux_accept(listener, $0, &length)
            }
        }
        guard descriptor >= 0 else { return (Int(descriptor), "") }
        setSendBuffer(descriptor, sendBuffer)
        let offset = MemoryLayout.offset(of: \sockaddr_un.sun_path) ?? 2
        let bytes = withUnsafeBytes(of: address) { Array($0.prefix(Int(length)).dropFirst(offset + 1)) }
        return (Int(descriptor), String(decoding: bytes, as: UTF8.self))
    }

    /// Sends a datagram to a receiver. As on the air, the sender does not know whether it arrives.
    static func send(_ bytes: [UInt8], from descriptor: Int32, to path: String) -> Int {
        let sent = withAddress(path) { address, length in
            Glibc.sendto(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT), address, length)
        }
        return sent < 0 ? -Int(errno) : sent
    }

    private static func open(_ kind: __socket_type, _ prepare: (Int32) -> Int32) -> Int {
        let flags = SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        let descriptor = socket(AF_UNIX, Int32(kind.rawValue | flags), 0)
        guard descriptor >= 0 else { return -Int(errno) }
        guard prepare(descriptor) == 0 else {
            let failure = errno
            close(descriptor)
            return -Int(failure)
        }
        return Int(descriptor)
    }

    private static func bind(_ descriptor: Int32, toPath path: String) -> Int32 {
        // Remove what a killed process left behind. No process listens on it, or this radio would already use the
        // address.
        unlink(path)
        return withAddress(path) { Glibc.bind(descriptor, $0, $1) }
    }

    private static func setSendBuffer(_ descriptor: Int32, _ bytes: Int32) {
        var bytes = bytes
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func withAddress<Result>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result)
        -> Result
    {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8.prefix(pathBytes))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let offset = MemoryLayout.offset(of: \sockaddr_un.sun_path) ?? 2
        // The length ends an abstract name, a NUL ends a path.
        let length = socklen_t(offset + bytes.count + (bytes.first == 0 ? 0 : 1))
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
