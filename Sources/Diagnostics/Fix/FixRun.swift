// SPDX-License-Identifier: Apache-2.0

import BLETransport
import FoundationEssentials

/// Makes and undoes changes. The decisions were made before: by `FixPlanner`, and by `ContentChange` for the current
/// bytes.
public struct FixRun: Sendable {
    /// The result of an undo.
    public enum TakenBack: Hashable, Sendable {
        /// The former state is restored.
        case done
        /// The former state was there already.
        case wasDone
        /// A person or program has altered the place since, so it was not undone. Carries the end of a sentence.
        case leftAlone(String)
        /// The change cannot be undone, with the reason.
        case failed(String)
    }

    /// The changes that were made and not undone, the first one first.
    public var changes: [MadeChange] { journal.changes }
    private var journal: FixJournal
    private let command: @Sendable ([String]) async -> SystemCommand.Outcome
    /// For undone changes: the values that they have left in the kernel, and the former values.
    private var traces: [AdapterTrace] = []
    /// What must follow the undone changes.
    private var effects: Set<ContentChange.Effect> = []

    /// Makes a run with the journal of earlier changes.
    public init(_ journal: FixJournal) {
        self.init(journal) { await SystemCommand($0).run() }
    }

    init(_ journal: FixJournal, command: @escaping @Sendable ([String]) async -> SystemCommand.Outcome) {
        self.journal = journal
        self.command = command
    }

    // MARK: Making

    /// Makes a change at this time, in seconds since 1970.
    public mutating func make(_ change: Change, at now: Double) async throws(FixFailure) {
        switch change.action {
        case .content(let content):
            let made = MadeChange(title: change.title, at: now, content: content)
            try journal.add(made)
            do throws(FixFailure) {
                guard try read(content) == content.before else {
                    throw FixFailure("\(content.path) has changed since the check; check again")
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

    // MARK: Undoing

    /// Undoes a change, unless the place was altered since. Undo later changes first.
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

    /// Restores the kernel's former values for adapters that still have RoadMesh's values.
    public func resetAdapters() {
        for trace in traces where AdapterDefaults.read(of: trace.adapter) == trace.after {
            _ = trace.before.set(on: trace.adapter)
        }
    }

    /// The change that must follow for all undone changes to take effect; nil if none is needed.
    public var afterwards: Change? {
        guard effects.contains(.restart) || effects.contains(.reload) else { return nil }
        return .restart(needsReload: effects.contains(.reload), for: [])
    }
}
