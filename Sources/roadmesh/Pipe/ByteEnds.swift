// SPDX-License-Identifier: Apache-2.0

import Bearers
import Dispatch
import Glibc

/// The source and the destination of a stream's bytes.
protocol ByteEnds: Sendable {
    /// The next bytes, at most this many. Nil at the end.
    func read(atMost count: Int) async throws(PipeFault) -> [UInt8]?
    /// Writes all bytes.
    func write(_ bytes: [UInt8]) async throws(PipeFault)
    /// Closes the destination. The other side of a socket reads the end of the file.
    func closeOutput() async throws(PipeFault)
    /// Closes both. With `isBroken`, the other side of a socket reads an error instead of the end of the file.
    func close(isBroken: Bool)
}

/// A failed call of the system.
struct PipeFault: Error, Hashable {
    var errno: Int32
    /// The system's words.
    var text: String { SystemError.text(errno) }
}

/// Standard input and output. Each has a thread of its own, since a file or a terminal has no other way to wait.
/// They stay blocking, because other programs share them.
struct StandardEnds: ByteEnds {
    private let input = DispatchQueue(label: "roadmesh.pipe.input")
    private let output = DispatchQueue(label: "roadmesh.pipe.output")

    func read(atMost count: Int) async throws(PipeFault) -> [UInt8]? {
        let result = await withCheckedContinuation { continuation in
            input.async { continuation.resume(returning: Self.read(count)) }
        }
        let bytes = try result.get()
        return bytes.isEmpty ? nil : bytes
    }

    func write(_ bytes: [UInt8]) async throws(PipeFault) {
        let result = await withCheckedContinuation { continuation in
            output.async { continuation.resume(returning: Self.write(bytes)) }
        }
        try result.get()
    }

    func closeOutput() async throws(PipeFault) {
        // A full disk is sometimes noticed only here.
        guard Glibc.close(STDOUT_FILENO) == 0 else { throw PipeFault(errno: errno) }
    }

    func close(isBroken: Bool) {}

    private static func read(_ count: Int) -> Result<[UInt8], PipeFault> {
        while true {
            var result = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                result = Glibc.read(STDIN_FILENO, buffer.baseAddress, buffer.count)
                initialized = max(result, 0)
            }
            if result >= 0 { return .success(bytes) }
            guard let fault = waitIfTemporary(STDIN_FILENO, POLLIN) else { continue }
            return .failure(fault)
        }
    }

    private static func write(_ bytes: [UInt8]) -> Result<Void, PipeFault> {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if let fault = waitIfTemporary(STDOUT_FILENO, POLLOUT) {
                return .failure(fault)
            }
        }
        return .success(())
    }

    /// Waits until a call can be repeated. Returns the error if it cannot. Another program may have made the file
    /// non-blocking.
    private static func waitIfTemporary(_ descriptor: Int32, _ events: Int32) -> PipeFault? {
        switch errno {
        case EINTR: return nil
        case EAGAIN:
            var ready = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            poll(&ready, 1, -1)
            return nil
        case let failure: return PipeFault(errno: failure)
        }
    }
}

/// A connected socket.
struct SocketEnds: ByteEnds {
    private let socket: PacketSocket

    /// Takes ownership of a connected, non-blocking socket.
    init(_ descriptor: Int32, poller: Poller) { socket = PacketSocket(descriptor, poller: poller) }

    func read(atMost count: Int) async throws(PipeFault) -> [UInt8]? {
        var bytes: [UInt8] = []
        try await perform(.readable) { descriptor in
            var result = 0
            bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                result = recv(descriptor, buffer.baseAddress, buffer.count, 0)
                initialized = max(result, 0)
            }
            return result < 0 ? -Int(errno) : result
        }
        return bytes.isEmpty ? nil : bytes
    }

    func write(_ bytes: [UInt8]) async throws(PipeFault) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try await perform(.writable) { [rest] descriptor in
                let result = rest.withUnsafeBytes {
                    send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                return result < 0 ? -Int(errno) : result
            }
            rest = rest.dropFirst(count)
        }
    }

    func closeOutput() async throws(PipeFault) {
        try await perform(.writable) { shutdown($0, Int32(SHUT_WR)) < 0 ? -Int(errno) : 0 }
    }

    func close(isBroken: Bool) {
        if isBroken {
            // The close then resets the connection.
            var linger = linger(l_onoff: 1, l_linger: 0)
            _ = try? socket.attempt {
                Int(setsockopt($0, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger))))
            }
        }
        socket.close()
    }

    @discardableResult
    private func perform(_ interest: Poller.Interest, _ call: (Int32) -> Int) async throws(PipeFault) -> Int {
        let result: Int
        do {
            result = try await socket.perform(interest, call)
        } catch {
            throw PipeFault(errno: EBADF)
        }
        guard result >= 0 else { throw PipeFault(errno: Int32(-result)) }
        return result
    }
}
