// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// Plays files without sound, to read tags and lengths that TagLib does not know and to measure loudness. Calls run one
/// at a time and block.
///
/// The player runs with as few rights as the program that reads tags, and stays for one file after the other.
final class PlayerProbe: Sendable {
    private let command: [String]
    private let limits: LibraryLimits
    private let running = NIOLockedValueBox(Running())
    private let isStopped = NIOLockedValueBox(false)

    private struct Running: Sendable {
        var process: ReaderProcess?
        var silentStarts = 0
        var number = 0
    }

    /// A probe. `command` starts mpv (`MPVPlayer.measuringArguments`).
    init(_ command: [String], limits: LibraryLimits) { (self.command, self.limits) = (command, limits) }

    /// Plays a file. Throws if the player does not start, and after `stop`.
    func play(_ path: String) throws(FileReader.Unusable) -> PlayedOutcome {
        let outcome = running.withLockedValue { running -> PlayedOutcome? in
            var deaths = 0
            while deaths < limits.deathsOfFile {
                if isStopped.withLockedValue({ $0 }) { return nil }
                if running.process == nil {
                    guard running.silentStarts < limits.readerStarts else { return nil }
                    running.silentStarts += 1
                    running.process = try? ReaderProcess(command)
                    running.process?.send(PlayerTalk.greeting)
                }
                if let outcome = play(path, &running) { return outcome }
                running.process.take()?.end()
                if running.silentStarts == 0 { deaths += 1 }
            }
            return .fails("it ends the player")
        }
        guard let outcome else {
            running.withLockedValue { $0.silentStarts = 0 }
            throw FileReader.Unusable()
        }
        return outcome
    }

    /// Stops the current file and refuses later ones.
    func stop() { isStopped.withLockedValue { $0 = true } }

    /// Ends the player. The next call starts another player.
    func close() { running.withLockedValue { $0.process.take()?.end() } }

    /// Nil if the player has ended.
    private func play(_ path: String, _ running: inout Running) -> PlayedOutcome? {
        guard running.process != nil else { return nil }
        running.number += 10
        var talk = PlayerTalk(path, number: running.number, limits: limits)
        running.process?.send(talk.begin())
        let start = ContinuousClock.now
        while ContinuousClock.now - start < limits.playTime, !isStopped.withLockedValue({ $0 }) {
            let exchange = running.process?.exchange(wait: 20) ?? .ended
            do {
                while let line = try running.process?.line(atMost: limits.playerLineBytes) {
                    running.silentStarts = 0
                    for answer in talk.heard(line) { running.process?.send(answer) }
                }
            } catch {
                return nil
            }
            if let outcome = talk.outcome { return outcome }
            switch exchange {
            case .ended: return nil
            case .quiet: if let line = talk.tick() { running.process?.send(line) }
            case .progress: break
            }
        }
        running.process.take()?.end()
        return isStopped.withLockedValue({ $0 }) ? nil : .fails("it plays too long")
    }
}
