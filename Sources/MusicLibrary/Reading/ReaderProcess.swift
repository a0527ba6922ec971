// SPDX-License-Identifier: Apache-2.0

import CLinux
import Dispatch
import Glibc

/// One run of a program that communicates over a socket, its standard input. It ends with `end`, or when this process
/// ends.
struct ReaderProcess: Sendable {
    /// The result of an exchange.
    enum Exchange: Sendable {
        /// Bytes were sent or received.
        case progress
        /// The wait has timed out.
        case quiet
        /// The program has ended or has closed its socket.
        case ended
    }

    /// A message was longer than the limit: the program misbehaves.
    struct TooLong: Error {}

    private let socket: Int32
    private let process: pid_t
    private var outgoing: [UInt8] = []
    private var sent = 0
    private var incoming: [UInt8] = []
    private var taken = 0

    /// Starts a program. Its environment contains only `PATH`. Throws the system's error.
    init(_ command: [String]) throws(ReaderStartError) {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &pair) == 0 else { throw ReaderStartError(code: errno) }
        defer { close(pair[1]) }
        // The program's end of the socket must block, as files do.
        _ = fcntl(pair[1], F_SETFL, fcntl(pair[1], F_GETFL) & ~O_NONBLOCK)
        var process: pid_t = 0
        let code = Self.spawn(command, input: pair[1], &process)
        guard code == 0 else {
            close(pair[0])
            throw ReaderStartError(code: code)
        }
        (socket, self.process) = (pair[0], process)
    }

    private static func spawn(_ command: [String], input: Int32, _ process: inout pid_t) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        for output in [1, 2] as [Int32] {
            posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0)
        }
        // Libraries open sockets that programs inherit. A listening socket would stay open after this process has
        // closed it.
        clinux_spawn_close_from(&actions, 3)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // This thread may block signals, and this program ignores some.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var arguments = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        let path = getenv("PATH").map { "PATH=" + String(cString: $0) } ?? "PATH=/usr/local/bin:/usr/bin:/bin"
        var environment = [strdup(path), nil]
        defer { free(environment[0]) }
        return posix_spawnp(&process, command[0], &actions, &attributes, &arguments, &environment)
    }

    /// Queues bytes, which are sent as soon as the program reads them.
    mutating func send(_ bytes: [UInt8]) {
        if sent == outgoing.count { (outgoing, sent) = ([], 0) }
        outgoing += bytes
    }

    /// Sends and receives what it can, and waits for that at most `wait` milliseconds.
    mutating func exchange(wait: Int32) -> Exchange {
        var place = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        if sent < outgoing.count { place.events |= Int16(POLLOUT) }
        guard poll(&place, 1, wait) > 0 else { return .quiet }
        if place.revents & Int16(POLLOUT) != 0 { flush() }
        guard place.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 else { return .progress }
        return receive() ? .progress : .ended
    }

    private mutating func flush() {
        let count = outgoing.withUnsafeBytes { bytes in
            Glibc.send(socket, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
        }
        if count > 0 { sent += count }
    }

    private mutating func receive() -> Bool {
        if taken == incoming.count { (incoming, taken) = ([], 0) }
        return withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { buffer in
            let count = recv(socket, buffer.baseAddress, buffer.count, 0)
            if count > 0 { incoming += buffer[..<count] }
            return count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR)
        }
    }

    /// The next complete message: four bytes of length, and the body.
    mutating func message(atMost limit: Int) throws(TooLong) -> [UInt8]? {
        guard incoming.count - taken >= 4 else { return nil }
        let length = ReaderFields.length(incoming[taken..<taken + 4])
        guard length <= limit else { throw TooLong() }
        guard incoming.count - taken - 4 >= length else { return nil }
        defer { taken += 4 + length }
        return Array(incoming[taken + 4..<taken + 4 + length])
    }

    /// The next complete line, without its line feed.
    mutating func line(atMost limit: Int) throws(TooLong) -> [UInt8]? {
        guard let end = incoming[taken...].firstIndex(of: UInt8(ascii: "\n")) else {
            if incoming.count - taken > limit { throw TooLong() }
            return nil
        }
        guard end - taken <= limit else { throw TooLong() }
        defer { taken = end + 1 }
        return Array(incoming[taken..<end])
    }

    /// Kills the program.
    consuming func end() {
        close(socket)
        kill(process, SIGKILL)
        // A program that waits for a disk ends only when the disk answers.
        DispatchQueue.global(qos: .background).async { [process] in
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
        }
    }
}

/// A program could not be started.
struct ReaderStartError: Error, Hashable {
    /// The system's error.
    var code: Int32
}
