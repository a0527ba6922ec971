// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The program that reads files: TagLib with few rights. It is `roadmesh` itself with an internal argument. It
/// exchanges
/// `ReaderRequest` and `ReaderAnswer` over its standard input, which is a socket.
public enum FileReaderProgram {
    /// The argument.
    public static let argument = "read-tags"

    private static let socket: Int32 = 0

    /// Reads files until the host closes the socket.
    public static func run() -> Never {
        let limits = LibraryLimits.standard
        boundMemory(limits)
        guard send(ReaderAnswer.greeting) else { exit(1) }
        while let request = next(limits) {
            // A file that takes too long ends the program, even if the host has died.
            alarm(UInt32(limits.readTime / .seconds(1)) * 2)
            let answer =
                switch request.kind {
                case .tags: ReaderAnswer.message(AudioTags(of: request.path, limits: limits))
                case .cover: ReaderAnswer.message(Cover(of: request.path, limits: limits))
                }
            alarm(0)
            guard send(answer) else { break }
        }
        exit(0)
    }

    /// The next request. Nil if none comes.
    private static func next(_ limits: LibraryLimits) -> ReaderRequest? {
        var place = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        guard poll(&place, 1, Int32(limits.readerRest / .milliseconds(1))) > 0,
            let head = receive(ReaderRequest.headBytes), let kind = ReaderRequest.Kind(rawValue: head[0])
        else { return nil }
        let length = ReaderFields.length(head[1...])
        guard length <= Int(PATH_MAX), let path = receive(length) else { return nil }
        return ReaderRequest(kind, String(decoding: path, as: UTF8.self))
    }

    private static func receive(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let read = bytes.withUnsafeMutableBytes {
                recv(socket, $0.baseAddress?.advanced(by: filled), count - filled, 0)
            }
            if read < 0, errno == EINTR { continue }
            guard read > 0 else { return nil }
            filled += read
        }
        return bytes
    }

    private static func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Limits the memory for files, in addition to the program's own.
    private static func boundMemory(_ limits: LibraryLimits) {
        guard let file = ReadFile("/proc/self/statm") else { return }
        let text = String(decoding: file.block(at: 0, count: 64), as: UTF8.self)
        let pages = text.split(separator: " ").first.flatMap { UInt($0) } ?? 0
        let bytes = pages * UInt(sysconf(Int32(_SC_PAGESIZE))) + limits.readerBytes
        var bound = rlimit(rlim_cur: bytes, rlim_max: bytes)
        setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &bound)
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }
}
