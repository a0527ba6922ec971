// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides which notices are on the screen: an event goes in, actions come out. Reads no clock; `now` is an argument.
public struct NoticeBoard: Sendable {
    /// What happens.
    public enum Event: Hashable, Sendable {
        /// There is something to tell.
        case tell(Notice)
        /// What the notice of this code was about is over.
        case clear(String)
        /// This has happened: whatever it clears is over.
        case cleared(by: Problem.Clearer)
        /// Time has passed: see `deadline`.
        case tick
    }

    /// What is to be done.
    public enum Action: Hashable, Sendable {
        /// Show this, in the place of what has the same code.
        case show(Notice)
        /// Take the notice of this code away.
        case clear(String)
    }

    /// Oldest first; no two of one code.
    private var toasts: [ErrorToast] = []

    /// A board with nothing on it.
    public init() {}

    /// What is on the screen, oldest first: for a screen that is opened only now.
    public var current: [Notice] { toasts.map(\.notice) }

    /// When `tick` is due.
    public var deadline: MeshInstant? { toasts.compactMap(\.deadline).min() }

    /// Takes an event.
    public mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        switch event {
        case .tell(let notice): tell(notice, now: now)
        case .clear(let code): clear { $0.notice.code == code }
        case .cleared(let clearer): clear { $0.notice.clearedBy.contains(clearer) }
        case .tick: tick(now: now)
        }
    }

    private mutating func tell(_ notice: Notice, now: MeshInstant) -> [Action] {
        // What stands already is not told twice, and its button comes no later for it.
        if notice.critical, toasts.contains(where: { $0.notice == notice }) { return [] }
        toasts.removeAll { $0.notice.code == notice.code }
        let cleared = makeRoom(for: notice)
        toasts.append(ErrorToast(showing: notice, now: now))
        return cleared + [.show(notice)]
    }

    private mutating func makeRoom(for notice: Notice) -> [Action] {
        // One place is kept from those that stay: a person who types a line that is no command is told so, whatever
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
