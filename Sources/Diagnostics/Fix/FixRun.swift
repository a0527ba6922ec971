// SPDX-License-Identifier: Apache-2.0

import BLETransport
import FoundationEssentials

/// Makes changes and takes them back. What it does was decided before: by `FixPlanner`, and by what `ContentChange` makes
/// of the bytes that are there.
public struct FixRun: Sendable {
    /// What came of taking a change back.
    public enum TakenBack: Hashable, Sendable {
        /// It is as it was before.
        case done
        /// It was so already.
        case wasDone
        /// Somebody has changed it since, so it stays; in words that end a sentence.
        case leftAlone(String)
        /// It cannot be; why.
        case failed(String)
    }

    /// The changes that were made and not taken back, the first one first.
    public var changes: [MadeChange] { journal.changes }
    private var journal: FixJournal
    private let command: @Sendable ([String]) async -> SystemCommand.Outcome
    /// What the kernel still has of what was taken back, and what it had before.
    private var traces: [AdapterTrace] = []
    /// What has to follow what was taken back.
    private var effects: Set<ContentChange.Effect> = []

    /// With the journal of what was done before.
    public init(_ journal: FixJournal) {
        self.init(journal) { await SystemCommand($0).run() }
    }

    init(_ journal: FixJournal, command: @escaping @Sendable ([String]) async -> SystemCommand.Outcome) {
        self.journal = journal
        self.command = command
    }

    // MARK: Making

    /// Makes a change, at this time in seconds since 1970.
    public mutating func make(_ change: Change, at now: Double) async throws(FixFailure) {
        switch change.action {
        case .content(let content):
            let made = MadeChange(title: change.title, at: now, content: content)
            try journal.add(made)
            do throws(FixFailure) {
                guard try read(content) == content.before else {
                    throw FixFailure("\(content.path) has changed meanwhile; check again")
                }
                try write(content.after, content)
            } catch {
                try journal.forget(made)
                throw FixFailure("\(content.path): \(error.text)")
            }
        case .command(let words, let undo):
            let made = MadeChange(title: change.title, at: now, undo: undo)
            if undo != nil { try journal.add(made) }
            do throws(FixFailure) {
                try await run(words)
            } catch {
                if undo != nil { try journal.forget(made) }
                throw error
            }
        case .restart: for words in change.commands { try await run(words) }
        }
    }

    private func run(_ words: [String]) async throws(FixFailure) {
        if case .failed(let cause) = await command(words) {
            throw FixFailure("\(words.joined(separator: " ")): \(cause)")
        }
    }

    private func read(_ content: ContentChange) throws(FixFailure) -> Data? {
        switch content.store {
        case .file: return try PlainFile.read(content.path)
        case .capability: return try CapabilityAttribute.read(content.path)
        case .kernel: return FileManager.default.contents(atPath: content.path)
        }
    }

    private func write(_ bytes: Data?, _ content: ContentChange) throws(FixFailure) {
        switch content.store {
        case .file:
            if let bytes {
                try PlainFile.replace(content.path, with: bytes)
            } else {
                try PlainFile.remove(content.path)
            }
        case .capability: try CapabilityAttribute.write(bytes, to: content.path)
        case .kernel: try PlainFile.write(bytes ?? Data(), toKernel: content.path)
        }
    }

    // MARK: Taking back

    /// Takes a change back, if it still is as it was made. The later ones have to be taken back before.
    public mutating func takeBack(_ made: MadeChange) async -> TakenBack {
        do throws(FixFailure) {
            var result = TakenBack.done
            if let content = made.content {
                switch content.takingBack(now: try read(content)) {
                case .restore:
                    try write(content.before, content)
                    effects.insert(content.effect)
                    traces += content.adapters ?? []
                case .isDone: result = .wasDone
                case .leaveAlone: return .leftAlone("\(content.path) was changed since, and stays as it is")
                }
            }
            if let undo = made.undo { try await run(undo) }
            try journal.forget(made)
            return result
        } catch {
            return .failed(made.content.map { "\($0.path): \(error.text)" } ?? error.text)
        }
    }

    /// Gives adapters back what the kernel had for them, as far as it still has what was set.
    public func resetAdapters() {
        for trace in traces where AdapterDefaults.read(of: trace.adapter) == trace.after {
            _ = trace.before.set(on: trace.adapter)
        }
    }

    /// What has to be done after all that was taken back, so that it counts; nil for nothing.
    public var afterwards: Change? {
        guard effects.contains(.restart) || effects.contains(.reload) else { return nil }
        return .restart(needsReload: effects.contains(.reload), for: [])
    }
}
