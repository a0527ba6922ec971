// SPDX-License-Identifier: Apache-2.0

import BLETransport
import FoundationEssentials
import Glibc
import Subprocess

/// A system program that runs for a change or a question.
struct SystemCommand: Sendable {
    /// The result.
    enum Outcome: Hashable, Sendable {
        /// The program succeeded, with its output.
        case done(String)
        /// The program failed or could not be started, with the reason.
        case failed(String)
    }

    /// The name of the program, and its arguments.
    let words: [String]

    init(_ words: [String]) { self.words = words }

    /// Folders that are searched in addition to PATH, because PATH lacks some of them after `su`.
    private static let folders = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]

    /// Whether a program with this name exists.
    static func exists(_ name: String, _ environment: [String: String]) -> Bool { path(of: name, environment) != nil }

    private static func path(of name: String, _ environment: [String: String]) -> String? {
        let folders = (environment["PATH"] ?? "").split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        let paths = (folders + Self.folders).map { "\($0)/\(name)" }
        // Root runs no program that another user could have put there.
        return paths.first { access($0, X_OK) == 0 && (geteuid() != 0 || TrustedPath.refusal(of: $0) == nil) }
    }

    /// Runs the program until its end or the time limit. If a user is given, it runs as this user.
    func run(as user: FixFacts.User? = nil, within limit: Duration = FixLimits.command) async -> Outcome {
        guard let name = words.first, let path = Self.path(of: name, ProcessInfo.processInfo.environment) else {
            return .failed("there is no program \(words.first ?? "") here")
        }
        var options = PlatformOptions()
        if let user {
            (options.userID, options.groupID, options.supplementaryGroups) = (user.number, user.group, user.groups)
        }
        let (arguments, platform) = (Array(words.dropFirst()), options)
        let running = Task { () -> Outcome in
            do {
                let result = try await Subprocess.run(
                    .path(.init(path)), arguments: .init(arguments), platformOptions: platform, input: .none,
                    output: .string(limit: FixLimits.outputBytes), error: .string(limit: FixLimits.outputBytes))
                let (output, error) = (result.standardOutput, result.standardError)
                guard case .exited(0) = result.terminationStatus else {
                    guard !Task.isCancelled else { throw CancellationError() }
                    return .failed(Self.line(error) ?? Self.line(output) ?? "it ended: \(result.terminationStatus)")
                }
                return .done(output)
            } catch is CancellationError {
                return .failed("it has not ended in time")
            } catch {
                return .failed("\(error)")
            }
        }
        let alarm = Task {
            try await Task.sleep(for: limit)
            running.cancel()
        }
        defer { alarm.cancel() }
        return await running.value
    }

    /// Runs the program, and returns the first line of its output, even if it fails. Nil without output.
    func answer() async -> String? {
        switch await run(within: FixLimits.question) {
        case .done(let text), .failed(let text): Self.line(text)
        }
    }

    private static func line(_ text: String) -> String? {
        text.split(whereSeparator: \.isNewline).map(String.init).first { !$0.allSatisfy(\.isWhitespace) }
    }
}
