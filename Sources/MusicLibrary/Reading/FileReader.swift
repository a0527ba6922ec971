// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// Reads tags and covers. Calls run one at a time and block.
///
/// TagLib parses files of strangers, so a host runs it in a separate program with few rights (`FileReaderProgram`). The
/// program reads one file after the other. If a file crashes or hangs it, it is started again, and only that file
/// counts as unreadable.
final class FileReader: Sendable {
    private let command: [String]?
    private let limits: LibraryLimits
    private let running = NIOLockedValueBox(Running())
    private let isStopped = NIOLockedValueBox(false)

    private struct Running: Sendable {
        var process: ReaderProcess?
        /// How many times in a row the program was started without sending a message.
        var silentStarts = 0
    }

    /// The program does not start, or the reader is stopped.
    struct Unusable: Error {}

    /// Creates a reader. `command` starts the program; nil reads in this process.
    init(_ command: [String]?, limits: LibraryLimits) { (self.command, self.limits) = (command, limits) }

    /// The tags of some files. `meanwhile` is called once per file, in order, while the program works.
    func tags(of paths: [String], meanwhile: (Int) -> Void = { _ in }) throws(Unusable) -> [AudioTags?] {
        guard let command else {
            return paths.enumerated().map { place, path in
                meanwhile(place)
                return AudioTags(of: path, limits: limits)
            }
        }
        let requests = paths.map { ReaderRequest(.tags, $0) }
        return try answers(to: requests, command, meanwhile).map { AudioTags(answer: $0) }
    }

    /// The cover of a file.
    func cover(of path: String) throws(Unusable) -> Cover? {
        guard let command else { return Cover(of: path, limits: limits) }
        let answer = try answers(to: [ReaderRequest(.cover, path)], command, { _ in }).first
        return answer.flatMap { Cover($0, limits: limits) }
    }

    /// Stops reading the current file, and refuses later ones.
    func stop() { isStopped.withLockedValue { $0 = true } }

    /// Ends the program. The next call starts another program.
    func close() {
        running.withLockedValue { running in
            let process = running.process.take()
            process?.end()
        }
    }

    /// The answers, in the requests' order; empty for a file that the program cannot read.
    private func answers(
        to requests: [ReaderRequest], _ command: [String], _ meanwhile: (Int) -> Void
    ) throws(Unusable) -> [[UInt8]] {
        let result = running.withLockedValue { running -> [[UInt8]]? in
            var batch = ReaderBatch(requests, limits)
            var worked = 0
            while !batch.isDone {
                if isStopped.withLockedValue({ $0 }) { return nil }
                if running.process == nil {
                    guard running.silentStarts < limits.readerStarts else { return nil }
                    running.process = try? ReaderProcess(command)
                    running.silentStarts += 1
                    batch.begin(now: .now)
                }
                guard running.process != nil else { continue }
                for request in batch.due() { running.process?.send(request.bytes) }
                let isBusy = worked < requests.count
                let wait = min(batch.patience(now: .now), limits.stopCheck)
                let exchange = running.process?.exchange(wait: isBusy ? 0 : wait) ?? .ended
                do throws(ReaderProcess.TooLong) {
                    while let body = try running.process?.message(atMost: limits.answerBytes) {
                        running.silentStarts = 0
                        batch.take(body, now: .now)
                    }
                } catch {
                    batch.fail()
                    running.process.take()?.end()
                    continue
                }
                if case .ended = exchange {
                    batch.died()
                    running.process.take()?.end()
                } else if batch.isOverdue(now: .now) {
                    batch.fail()
                    running.process.take()?.end()
                }
                if isBusy {
                    meanwhile(worked)
                    worked += 1
                }
            }
            for place in worked..<max(worked, requests.count) { meanwhile(place) }
            return batch.answers
        }
        guard let result else {
            running.withLockedValue { $0.silentStarts = 0 }
            throw Unusable()
        }
        return result
    }
}

/// Decides which requests to send, and handles requests that crash the program or get no answer.
struct ReaderBatch: Sendable {
    private let requests: [ReaderRequest]
    private let limits: LibraryLimits
    /// The answers so far.
    private(set) var answers: [[UInt8]] = []
    private var asked = 0
    private var deaths = 0
    private var isGreeted = false
    private var since = ContinuousClock.now

    init(_ requests: [ReaderRequest], _ limits: LibraryLimits) {
        (self.requests, self.limits) = (requests, limits)
        isGreeted = true
    }

    /// Whether all requests have an answer.
    var isDone: Bool { answers.count == requests.count }

    /// The program was started. Its first message is a greeting.
    mutating func begin(now: ContinuousClock.Instant) { (asked, isGreeted, since) = (answers.count, false, now) }

    /// The requests to be sent now.
    mutating func due() -> ArraySlice<ReaderRequest> {
        let end = min(requests.count, answers.count + limits.requestsAhead)
        defer { asked = max(asked, end) }
        return requests[asked..<max(asked, end)]
    }

    /// A message has arrived.
    mutating func take(_ body: [UInt8], now: ContinuousClock.Instant) {
        since = now
        if !isGreeted {
            isGreeted = true
        } else if answers.count < asked {
            answers.append(body)
            deaths = 0
        }
    }

    /// The program has ended. The first file without an answer may be at fault. It is tried once more.
    mutating func died() {
        guard isGreeted else { return }
        deaths += 1
        if deaths >= limits.deathsOfFile { fail() }
    }

    /// The first file without an answer counts as unreadable.
    mutating func fail() {
        guard isGreeted, !isDone else { return }
        answers.append([])
        deaths = 0
    }

    /// Whether the program has been silent for too long.
    func isOverdue(now: ContinuousClock.Instant) -> Bool { now - since > limits.readTime }

    /// How long to wait for the program, in milliseconds.
    func patience(now: ContinuousClock.Instant) -> Int32 {
        Int32(max(.zero, limits.readTime - (now - since)) / .milliseconds(1)) + 1
    }
}
