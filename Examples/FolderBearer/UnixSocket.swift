// SPDX-License-Identifier: Apache-2.0

import Bearers
import Dispatch
import Glibc
import Synchronization

/// A Unix socket that keeps packets apart. A caller that has to wait is suspended and blocks no thread.
final class UnixSocket: Sendable {
    /// What a caller waits for.
    enum Readiness { case readable, writable }

    private static let queue = DispatchQueue(label: "folder-bearer")
    /// It stays open until no caller uses this object, so that its number cannot mean another file.
    private let descriptor: Int32
    private let closed = Atomic(false)

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { Glibc.close(descriptor) }

    /// A socket that accepts callers at a path.
    static func listening(at path: String) throws(BearerError) -> UnixSocket {
        // A killed process leaves its socket behind.
        unlink(path)
        let backlog = Int32(FolderLimits.callers)
        return try make { descriptor in
            withAddress(path) { bind(descriptor, $0, $1) } == 0 ? listen(descriptor, backlog) : -1
        }
    }

    /// A socket that is connected to the one at a path.
    static func connected(to path: String) throws(BearerError) -> UnixSocket {
        try make { descriptor in withAddress(path) { connect(descriptor, $0, $1) } }
    }

    /// The next caller. Nil after `close`.
    func accepted() async -> UnixSocket? {
        while !isClosed {
            let caller = accept(descriptor, nil, nil)
            if caller >= 0 { return Self.prepared(caller) }
            switch errno {
            case EAGAIN, EINTR: await wait(until: .readable)
            // The process has no descriptor left for this caller.
            case EMFILE, ENFILE: try? await Task.sleep(for: FolderLimits.look)
            default: return nil
            }
        }
        return nil
    }

    /// Sends a packet. Returns 0 or an errno, which is EAGAIN if there is no room.
    func send(_ packet: [UInt8]) -> Int32 {
        Glibc.send(descriptor, packet, packet.count, Int32(MSG_NOSIGNAL)) < 0 ? errno : 0
    }

    /// Reads a packet. Returns its length, which may be greater than the buffer, or a negative errno.
    func receive(into buffer: inout [UInt8]) -> Int {
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_TRUNC))
        return count < 0 ? -Int(errno) : count
    }

    /// Returns when the socket may be ready, when it is closed, or when the task is cancelled.
    func wait(until readiness: Readiness) async {
        // Every thread may use a source.
        nonisolated(unsafe) let source: any DispatchSourceProtocol =
            switch readiness {
            case .readable: DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: Self.queue)
            case .writable: DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: Self.queue)
            }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                source.setEventHandler { source.cancel() }
                source.setCancelHandler { waiter.resume() }
                source.activate()
            }
        } onCancel: {
            source.cancel()
        }
    }

    /// Ends all waits at both ends. Packets that were sent before still arrive.
    func close() {
        closed.store(true, ordering: .releasing)
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Whether this side has closed it.
    var isClosed: Bool { closed.load(ordering: .acquiring) }

    private static func make(_ prepare: (Int32) -> Int32) throws(BearerError) -> UnixSocket {
        let descriptor = socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0)
        guard descriptor >= 0 else { throw BearerError(.failed, text(errno)) }
        let made = prepared(descriptor)
        guard prepare(descriptor) == 0 else { throw BearerError(.failed, text(errno)) }
        return made
    }

    private static func prepared(_ descriptor: Int32) -> UnixSocket {
        var bytes = FolderLimits.bufferBytes
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        return UnixSocket(descriptor)
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(FolderLimits.pathBytes)) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }

    /// The system's text for an errno.
    static func text(_ code: Int32) -> String { String(cString: strerror(code)) }
}
