// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides which notices are on the screen: an event goes in, actions come out. It reads no clock; `now` is an
/// argument.
public struct NoticeBoard: Sendable {
    /// An input.
    public enum Event: Hashable, Sendable {
        /// Show a notice.
        case tell(Notice)
        /// The problem with this code is over.
        case clear(String)
        /// An event that clears notices has happened.
        case cleared(by: Problem.Clearer)
        /// Time has passed: see `deadline`.
        case tick
    }

    /// An output that the owner performs.
    public enum Action: Hashable, Sendable {
        /// Show this notice. It replaces one with the same code.
        case show(Notice)
        /// Remove the notice with this code.
        case clear(String)
    }

    /// Oldest first, each code at most once.
    private var toasts: [ErrorToast] = []

    /// Creates an empty board.
    public init() {}

    /// The notices on the screen, oldest first, for a screen that has just opened.
    public var current: [Notice] { toasts.map(\.notice) }

    /// When `tick` is due.
    public var deadline: MeshInstant? { toasts.compactMap(\.deadline).min() }

    /// Handles an event.
    public mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        switch event {
        case .tell(let notice): tell(notice, now: now)
        case .clear(let code): clear { $0.notice.code == code }
        case .cleared(let clearer): clear { $0.notice.clearedBy.contains(clearer) }
        case .tick: tick(now: now)
        }
    }

    private mutating func tell(_ notice: Notice, now: MeshInstant) -> [Action] {
        // A notice that is shown already is not shown again, and its button does not come any later.
        if notice.critical, toasts.contains(where: { $0.notice == notice }) { return [] }
        toasts.removeAll { $0.notice.code == notice.code }
        let cleared = makeRoom(for: notice)
        toasts.append(ErrorToast(showing: notice, now: now))
        return cleared + [.show(notice)]
    }

    private mutating func makeRoom(for notice: Notice) -> [Action] {
        // Critical notices leave one slot free. A person who types an invalid command always gets an answer, whatever
        // else is wrong.
        if notice.critical, toasts.count(where: \.isCritical) == DJLimits.notices - 1 {
            return clearOldest(where: \.isCritical)
        }
        return toasts.count < DJLimits.notices ? [] : clearOldest { !$0.isCritical }
    }

    private mutating func clearOldest(where isMeant: (ErrorToast) -> Bool) -> [Action] {
        guard let index = toasts.firstIndex(where: isMeant) else { return [] }
        return [.clear(toasts.remove(at: index).notice.code)]
    }

    private mutating func tick(now: MeshInstant) -> [Action] {
        var changed: [Action] = []
        var over: Set<String> = []
        for index in toasts.indices {
            switch toasts[index].tick(now: now) {
            case .changed: changed.append(.show(toasts[index].notice))
            case .over: over.insert(toasts[index].notice.code)
            case nil: break
            }
        }
        return changed + clear { over.contains($0.notice.code) }
    }

    private mutating func clear(_ isOver: (ErrorToast) -> Bool) -> [Action] {
        let cleared = toasts.filter(isOver).map { Action.clear($0.notice.code) }
        toasts.removeAll(where: isOver)
        return cleared
    }
}
