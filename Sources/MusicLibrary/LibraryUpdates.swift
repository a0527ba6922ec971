// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

/// Pending updates, at most one of each kind, because a later one replaces it. So a slow listener costs no memory.
final class LibraryUpdates: Sendable {
    private struct State {
        var waiting: [MusicLibrary.Update] = []
        var asking: CheckedContinuation<MusicLibrary.Update?, Never>?
        var hasEnded = false
    }

    private let state = NIOLockedValueBox(State())

    /// The updates, for one listener. It ends with `end`, or with its task.
    var stream: AsyncStream<MusicLibrary.Update> {
        AsyncStream {
            await self.next()
        } onCancel: {
            self.end()
        }
    }

    /// Adds an update.
    func tell(_ update: MusicLibrary.Update) {
        let asking = state.withLockedValue { state in
            guard state.asking == nil else { return state.asking.take() }
            state.waiting.removeAll { $0.kind == update.kind }
            if !state.hasEnded { state.waiting.append(update) }
            return nil
        }
        asking?.resume(returning: update)
    }

    /// Ends the stream of updates.
    func end() {
        let asking = state.withLockedValue { state in
            state.hasEnded = true
            return state.asking.take()
        }
        asking?.resume(returning: nil)
    }

    private func next() async -> MusicLibrary.Update? {
        await withCheckedContinuation { continuation in
            let next: MusicLibrary.Update?? = state.withLockedValue { state in
                if !state.waiting.isEmpty { return .some(state.waiting.removeFirst()) }
                if state.hasEnded { return .some(nil) }
                state.asking = continuation
                return nil
            }
            if let next { continuation.resume(returning: next) }
        }
    }
}

extension MusicLibrary.Update {
    fileprivate enum Kind { case progress, songs, health }

    fileprivate var kind: Kind {
        switch self {
        case .progress: .progress
        case .songs: .songs
        case .problem, .recovered: .health
        }
    }
}
