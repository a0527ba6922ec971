// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Bearers
import CLinux
import Glibc
import MeshNode

/// The value of `--socket`: where a caller listens, or what a listener connects to.
enum SocketPlace: Hashable, Sendable, ExpressibleByArgument {
    /// A TCP port of a host. A caller listens on this port, by default for this device only.
    case tcp(host: String, port: UInt16)
    /// The path of a Unix socket.
    case unix(String)

    init?(argument: String) {
        if argument.hasPrefix("/") || argument.hasPrefix("./") {
            // The kernel's limit, with the final zero.
            guard argument.utf8.count < 108 else { return nil }
            self = .unix(argument)
            return
        }
        let (host, port) =
            argument.lastIndex(of: ":").map {
                (String(argument[..<$0]), argument[argument.index(after: $0)...])
            } ?? ("127.0.0.1", argument[...])
        guard let number = UInt16(port), number > 0, !host.isEmpty else { return nil }
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        guard isBracketed || !host.contains(":") else { return nil }
        self = .tcp(host: isBracketed ? String(host.dropFirst().dropLast()) : host, port: number)
    }

    /// The place as a person types it.
    var text: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): path
        }
    }

    /// The addresses of the kernel for this place.
    func addresses(isListening: Bool) throws(SetupProblem) -> [SocketAddress] {
        switch self {
        case .unix(let path): return [SocketAddress(path: path)]
        case .tcp(let host, let port):
            var hints = addrinfo()
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
            hints.ai_flags = isListening ? AI_PASSIVE : 0
            var list: UnsafeMutablePointer<addrinfo>?
            let code = getaddrinfo(host, "\(port)", &hints, &list)
            defer { freeaddrinfo(list) }
            guard code == 0, list != nil else {
                let why = gai_strerror(code).map { String(cString: $0) } ?? "unknown"
                throw SetupProblem(.usage, "--socket \(text) is no address here: \(why). Give HOST:PORT or a path.")
            }
            let each = sequence(first: list) { $0?.pointee.ai_next }
            return each.prefix { $0 != nil }.compactMap { $0.map { SocketAddress($0.pointee) } }
        }
    }

    /// Listens here. A Unix socket is for this user only.
    func listen() throws(SetupProblem) -> Int32 {
        var failure: Int32 = 0
        for address in try addresses(isListening: true) {
            let descriptor = address.open()
            guard descriptor >= 0 else {
                failure = errno
                continue
            }
            if case .unix(let path) = self, Self.isAbandoned(path, address) { unlink(path) }
            var one: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
            let before = umask(0o077)
            let isBound = address.with { bind(descriptor, $0, $1) } == 0 && Glibc.listen(descriptor, SOMAXCONN) == 0
            failure = errno
            umask(before)
            if isBound { return descriptor }
            Glibc.close(descriptor)
        }
        throw SetupProblem(
            failure == EACCES ? .notPermitted : .cannotCreate,
            "Cannot listen on \(text): \(SystemError.text(failure)). Give another --socket.")
    }

    /// Whether a path is the socket of a program that has ended.
    private static func isAbandoned(_ path: String, _ address: SocketAddress) -> Bool {
        let probe = address.open()
        guard probe >= 0 else { return false }
        defer { Glibc.close(probe) }
        return address.with { connect(probe, $0, $1) } != 0 && errno == ECONNREFUSED
    }

    /// Releases the path of a Unix socket.
    func release() { if case .unix(let path) = self { unlink(path) } }
}

/// An address of the kernel.
struct SocketAddress: Sendable {
    private let family: Int32
    private let bytes: [UInt8]

    fileprivate init(_ info: addrinfo) {
        family = info.ai_family
        bytes = info.ai_addr.map { Array(UnsafeRawBufferPointer(start: $0, count: Int(info.ai_addrlen))) } ?? []
    }

    fileprivate init(path: String) {
        family = AF_UNIX
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        bytes = withUnsafeBytes(of: &address) { Array($0) }
    }

    /// A non-blocking socket for this address.
    func open() -> Int32 {
        socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    }

    func with<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result? {
        bytes.withUnsafeBytes { raw in
            raw.baseAddress.map { body($0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) }
        }
    }

    /// Connects to the socket.
    func connect(_ poller: Poller) async throws(PipeFault) -> SocketEnds {
        let descriptor = open()
        guard descriptor >= 0 else { throw PipeFault(errno: errno) }
        let pending = PacketSocket(descriptor, poller: poller)
        let begun = with { Glibc.connect(descriptor, $0, $1) == 0 ? 0 : errno } ?? EINVAL
        guard begun == 0 || begun == EINPROGRESS else { throw PipeFault(errno: begun) }
        if begun == EINPROGRESS {
            let alarm = Task {
                try? await Task.sleep(for: PipeLimits.connect)
                if !Task.isCancelled { pending.close() }
            }
            defer { alarm.cancel() }
            do {
                try await pending.wait(for: .writable)
            } catch {
                throw PipeFault(errno: ETIMEDOUT)
            }
        }
        var failure: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard let connected = pending.surrender() else { throw PipeFault(errno: ETIMEDOUT) }
        getsockopt(connected, SOL_SOCKET, SO_ERROR, &failure, &size)
        guard failure == 0 else {
            Glibc.close(connected)
            throw PipeFault(errno: failure)
        }
        return SocketEnds(connected, poller: poller)
    }
}

/// Accepts connections, until it is closed.
struct SocketListener: Sendable {
    private let socket: PacketSocket
    private let poller: Poller

    init(_ descriptor: Int32, poller: Poller) {
        (socket, self.poller) = (PacketSocket(descriptor, poller: poller), poller)
    }

    /// The next connection. Nil after `close`.
    func next() async -> SocketEnds? {
        while true {
            let result = try? await socket.perform(.readable) { Int(clinux_accept($0, nil, nil)) }
            guard let result else { return nil }
            if result >= 0 { return SocketEnds(Int32(result), poller: poller) }
            // Without free descriptors the next connection has to wait until another has ended.
            try? await Task.sleep(for: BearerLimits.acceptPause)
        }
    }

    func close() { socket.close() }
}
