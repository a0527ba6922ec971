// SPDX-License-Identifier: Apache-2.0

import BLETransport
import Bearers
import MeshNode
import UnixSignals

/// A pairing with the person at the terminal: it shows events, reads answers, and ends at the system's signals.
package struct PairingDialogue {
    private let run: PairingRun
    private let name: String
    private let reporter: PairingReporter

    package init(_ run: PairingRun, name: String, reporter: PairingReporter) {
        (self.run, self.name, self.reporter) = (run, name, reporter)
    }

    /// Runs to the end. Returns the exit code if no bond was made, else nil.
    package func hold() async throws -> Int32? {
        let signalled = Task { [run] in
            for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup) {
                run.stop()
                return true
            }
            return false
        }
        let outcome: PairingOutcome
        do {
            outcome = try await holdTalk()
        } catch {
            throw SetupProblem(error)
        }
        signalled.cancel()
        let isSignalled = await signalled.value
        reporter.end(outcome, isSignalled: isSignalled)
        let code = isSignalled && outcome == .stopped ? .interrupted : outcome.exitCode
        return code?.rawValue
    }

    private func holdTalk() async throws(BearerError) -> PairingOutcome {
        let showing = Task { [run, reporter, name] in
            for await update in run.updates {
                if update == .looking {
                    reporter.begin(name: name, radio: run.radioName)
                } else {
                    reporter.show(update)
                }
            }
        }
        let listening = Task { [run, reporter] in
            for await line in InputLines().lines() {
                switch PairingLine(line) {
                case .answer(let isSame)?: run.answer(isSame)
                case .quit?: run.stop()
                case .other(let line)?: reporter.badCommand(line)
                case nil: break
                }
            }
            // No further answer can come.
            if !Task.isCancelled { run.stop() }
        }
        defer { listening.cancel() }
        let outcome = try await run.run()
        await showing.value
        return outcome
    }
}

/// A typed line during a pairing.
enum PairingLine: Hashable {
    case answer(Bool)
    case quit
    case other(String)

    /// Reads a line. Nil for an empty one.
    init?(_ line: String) {
        let line = line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        switch line.lowercased() {
        case "": return nil
        case "yes", "y", "accept": self = .answer(true)
        case "no", "n", "refuse": self = .answer(false)
        case "quit": self = .quit
        default: self = .other(line)
        }
    }
}
