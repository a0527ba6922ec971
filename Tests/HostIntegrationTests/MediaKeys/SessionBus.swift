// SPDX-License-Identifier: Apache-2.0

import CLinux
import FoundationEssentials
import Glibc
import NIOPosix
import TestSupport
import Testing

/// A session bus for one test.
final class SessionBus {
    let address: String
    private let folder: String
    private var process: pid_t = 0

    /// A bus that does not run yet.
    init() throws {
        folder = newFolder()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        address = "unix:path=\(folder)/bus"
    }

    func start() throws {
        unlink("\(folder)/bus")
        var pipes: [Int32] = [0, 0]
        pipe(&pipes)
        defer { close(pipes[0]) }
        process = try spawn(
            ["dbus-daemon", "--session", "--nofork", "--address=\(address)", "--print-address=3"], answer: pipes[1])
        close(pipes[1])
        // It prints its address when it listens.
        var byte: UInt8 = 0
        try #require(read(pipes[0], &byte, 1) == 1)
    }

    func stop() {
        guard process > 0 else { return }
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
        process = 0
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The output of `playerctl`, without the last line break. Nil if it fails.
    func playerctl(_ arguments: String..., player: String = "roadmesh") async throws -> String? {
        let output = newFolder()
        defer { unlink(output) }
        let child = try spawn(
            ["playerctl", "--player=\(player)"] + arguments, output: output,
            environment: ["DBUS_SESSION_BUS_ADDRESS=\(address)", "PATH=/usr/bin:/bin", "LANG=C.UTF-8"])
        let status = try await NIOThreadPool.singleton.runIfActive { () -> Int32 in
            var status: Int32 = 0
            waitpid(child, &status, 0)
            return status
        }
        let text = try String(decoding: Data(contentsOf: URL(filePath: output)), as: UTF8.self)
        return status == 0 ? String(text.drop { $0 == "\n" }.reversed().drop { $0 == "\n" }.reversed()) : nil
    }
}

/// A child that inherits only the standard streams, and `answer` as its descriptor 3.
private func spawn(
    _ arguments: [String], answer: Int32? = nil, output: String? = nil, environment: [String]? = nil
) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let output { posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600) }
    if let answer { posix_spawn_file_actions_adddup2(&actions, answer, 3) }
    clinux_spawn_close_from(&actions, answer == nil ? 3 : 4)
    var argv = arguments.map { strdup($0) } + [nil]
    var given = (environment ?? []).map { strdup($0) } + [nil]
    defer { for text in argv + given { free(text) } }
    var child = pid_t()
    let failure =
        environment == nil
        ? posix_spawnp(&child, arguments[0], &actions, nil, &argv, environ)
        : posix_spawnp(&child, arguments[0], &actions, nil, &argv, &given)
    try #require(failure == 0, "\(arguments[0]) is missing: apt-get install dbus playerctl")
    return child
}
