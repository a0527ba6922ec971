// SPDX-License-Identifier: Apache-2.0

import CLinux
import BrokerBearer
import FoundationEssentials
import Glibc
import MeshProtocol

/// Debian's mosquitto on a port of this machine, for the tests of this process. Each test has its own prefix.
package final class LocalBroker: Sendable {
    /// The broker for all tests that need any one.
    package static let shared = LocalBroker()

    /// Its port.
    package let port: Int
    private let process: pid_t
    /// The broker ends when no process holds this pipe any more, however this process ends.
    private let leash: Int32

    /// Starts a broker.
    package init(port: Int = LocalBroker.freePort()) {
        self.port = port
        let folder = newFolder()
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let settings = folder + "/mosquitto.conf"
        let text = """
            listener \(port) 127.0.0.1
            allow_anonymous true
            persistence false
            set_tcp_nodelay true
            user root
            log_dest none
            """
        precondition(FileManager.default.createFile(atPath: settings, contents: Data(text.utf8)), "a folder for tests")
        (process, leash) = Self.start(settings)
        let limit = ContinuousClock.now + .seconds(30)
        while !Self.listens(port) {
            precondition(ContinuousClock.now < limit, "mosquitto does not start: is the package installed?")
            poll(nil, 0, 5)
        }
    }

    /// An address at the broker with topics of its own.
    package func address() throws -> BrokerAddress {
        try BrokerAddress("mqtt://127.0.0.1:\(port)/test\(UInt64.random(in: 0 ... .max))")
    }

    /// Ends the broker at once, as a power cut does.
    package func kill() {
        Glibc.kill(-process, SIGKILL)
        waitpid(process, nil, 0)
        close(leash)
    }

    private static func start(_ settings: String) -> (pid_t, Int32) {
        var pipe: [Int32] = [0, 0]
        precondition(Glibc.pipe(&pipe) == 0, "a pipe")
        for end in pipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, pipe[0], 0)
        // A child would keep connections, ports and locks of other tests open.
        clinux_spawn_close_from(&actions, 3)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        let script = "mosquitto -c \(settings) & read _; kill -9 $!"
        let arguments = ["bash", "-c", script].map { (text: String) in strdup(text) } + [nil]
        let environment = [strdup("PATH=/usr/sbin:/usr/bin:/bin"), nil]
        defer { for text in arguments + environment { free(text) } }
        var process: pid_t = 0
        precondition(
            posix_spawn(&process, "/bin/bash", &actions, &attributes, arguments, environment) == 0, "a shell")
        close(pipe[0])
        return (process, pipe[1])
    }

    /// A free port.
    package static func freePort() -> Int {
        let socket = boundSocket(0)
        defer { close(socket) }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutableBytes(of: &address) { bytes in
            getsockname(socket, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    private static func local(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func boundSocket(_ port: Int) -> Int32 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = local(port)
        _ = withUnsafeBytes(of: &address) { bytes in
            bind(socket, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), UInt32(bytes.count))
        }
        return socket
    }

    private static func listens(_ port: Int) -> Bool {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = local(port)
        return withUnsafeBytes(of: &address) { bytes in
            connect(socket, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), UInt32(bytes.count))
        } == 0
    }
}
