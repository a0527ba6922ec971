// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import Glibc
import MeshNode
import MeshProtocol
import TestSupport
import Testing

@testable import MusicPlayer

@Suite("When mpv dies", .serialized, .timeLimit(.minutes(2)))
struct MPVDeathTests {
    @Test("after mpv is killed in the middle of a song, the song continues there at once")
    func goesOn() async throws {
        try await PlayerRig.with { rig in
            try rig.folder.write("a", seconds: 60)
            let wantedAt = ContinuousClock.now
            await rig.want("a", at: .seconds(30))
            let before = try await rig.heard("a")
            let first = before.at - wantedAt
            let process = try #require(await rig.player.processID)
            let killedAt = ContinuousClock.now
            kill(process, SIGKILL)
            let after = try await rig.heard("a")
            let lost = after.elapsed - (before.elapsed + (killedAt - before.at))
            let silence = after.at - killedAt
            print("silence: \(silence / .milliseconds(1)) ms; it goes on \(lost / .milliseconds(1)) ms off")
            // It takes some tenths of a second. On a busy machine the first start takes longer, too.
            #expect(silence < .seconds(2) + first * 3)
            // On a busy machine the report may be late, after further playback.
            #expect(lost > .milliseconds(-300) && lost < silence + .milliseconds(500))
            // The first process has ended.
            #expect(kill(process, 0) == -1 && errno == ESRCH)
        }
    }

    @Test("an mpv that hangs is killed, and the song continues")
    func hangs() async throws {
        var limits = PlayerLimits()
        (limits.answerTime, limits.askEvery) = (.milliseconds(300), .milliseconds(100))
        // On a busy machine an mpv that starts may be as late as one that hangs. The song is not to blame then.
        (limits.deathsOfSong, limits.silentDeaths) = (100, 100)
        try await PlayerRig.with(limits: limits) { rig in
            try rig.folder.write("a", seconds: 60)
            await rig.want("a", at: .seconds(30))
            try await rig.heard("a")
            let process = try #require(await rig.player.processID)
            kill(process, SIGSTOP)
            let after = try await rig.heard("a")
            #expect(after.elapsed > .seconds(30) && after.elapsed < .seconds(31))
            #expect(kill(process, 0) == -1 && errno == ESRCH)
        }
    }

    @Test("without mpv, a person sees what to install, and the song waits")
    func isMissing() async throws {
        #expect { try MPVPlayer.find(path: "/nowhere:relative") } throws: {
            ($0 as? SetupProblem)?.sentence.contains("sudo apt install mpv") == true
        }
        try await PlayerRig.with(executable: "/nowhere/mpv") { rig in
            try rig.folder.write("a", seconds: 60)
            await rig.want("a")
            let problem = try await rig.problems.first { $0?.problem }
            #expect(problem.sentence.hasPrefix("The player mpv cannot be started"))
        }
    }

    @Test("without an audio output, the song is not skipped, and a person is notified")
    func noSoundCard() async throws {
        try await PlayerRig.with(["--ao=alsa", "--audio-device=alsa/roadmesh-has-no-such-card"]) { rig in
            try rig.folder.write("a", seconds: 60)
            await rig.want("a")
            #expect(try await rig.problems.first { $0 } == .noSound)
            await rig.want(nil)
            // The only report about the song is that it waits.
            await rig.want("nowhere")
            #expect(try await rig.reports.first { $0 == .waits("a", at: .zero) ? nil : $0 } == .failed("nowhere"))
        }
    }

    @Test("mpv ends with the program, even with a killed one")
    func endsWithTheProgram() async throws {
        let note = "/tmp/roadmesh-player-\(getpid())"
        setenv("ROADMESH_TEST_NOTE", note, 1)
        defer { unlink(note) }
        await #expect(processExitsWith: .signal(SIGKILL)) {
            try await PlayerRig.with { rig in
                try rig.folder.write("a", seconds: 60)
                await rig.want("a")
                try await rig.heard("a")
                let process = try #require(await rig.player.processID)
                let note = try #require(ProcessInfo.processInfo.environment["ROADMESH_TEST_NOTE"])
                try Data("\(process)".utf8).write(to: URL(filePath: note))
                kill(getpid(), SIGKILL)
            }
        }
        let text = try String(contentsOf: URL(filePath: note), encoding: .utf8)
        let process = try #require(pid_t(text))
        #expect(try hasEnded(process, withinMilliseconds: 2_000), "mpv \(process) outlives the program")
    }

    @Test("twenty failed starts leave no descriptors open")
    func failedStartsLeaveNothing() async {
        await #expect(processExitsWith: .success) {
            var limits = PlayerLimits()
            (limits.firstRestartPause, limits.longestRestartPause) = (.milliseconds(1), .milliseconds(1))
            try await PlayerRig.with(executable: "/nowhere/mpv", limits: limits) { rig in
                try rig.folder.write("a", seconds: 1)
                func start(_ count: Int) async throws -> Int {
                    let before = await rig.player.starts
                    while await rig.player.starts < before + count { await Task.yield() }
                    return try openDescriptors()
                }
                await rig.want("a")
                let before = try await start(3), after = try await start(20)
                // A start in progress has some. One left by each start would be twenty.
                guard after - before < 15 else { exit(1) }
            }
        }
    }

    @Test("twenty deaths leave no process and no open descriptors")
    func leavesNothing() async {
        // In a separate process, since other tests open and close descriptors too.
        await #expect(processExitsWith: .success) {
            var limits = PlayerLimits()
            (limits.deathsOfSong, limits.silentDeaths) = (100, 100)
            try await PlayerRig.with(limits: limits) { rig in
                try rig.folder.write("a", seconds: 600)
                await rig.want("a", at: .seconds(30))
                try await rig.heard("a")
                var processes: [pid_t] = []
                func die() async throws {
                    let process = try #require(await rig.player.processID)
                    processes.append(process)
                    kill(process, SIGKILL)
                    try await rig.heard("a")
                }
                // The first one opens the descriptors that the process keeps.
                try await die()
                let before = try openDescriptors()
                for _ in 0..<20 { try await die() }
                let after = try openDescriptors()
                print("descriptors before and after 20 restarts: \(before), \(after)")
                guard before == after, processes.allSatisfy({ kill($0, 0) == -1 && errno == ESRCH }) else { exit(1) }
            }
        }
    }
}

private func openDescriptors() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
}

/// Waits for the end of a process that is not a child (pidfd_open(2), which Swift's Glibc lacks).
private func hasEnded(_ process: pid_t, withinMilliseconds limit: Int32) throws -> Bool {
    typealias Open = @convention(c) (pid_t, UInt32) -> Int32
    let open = try #require(dlsym(nil, "pidfd_open"), "a C library before glibc 2.36")
    let descriptor = unsafeBitCast(open, to: Open.self)(process, 0)
    guard descriptor >= 0 else { return errno == ESRCH }
    defer { close(descriptor) }
    var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&wait, 1, limit) == 1
}
