// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// What those who show a node were told last: the notices, what is heard, what the radio does. Only what has changed is told.
struct NodeScreen: Sendable {
    private var board = NoticeBoard()
    private var playback: Playback?
    private var steering: Steering?
    private var shownActivity: RadioActivity?

    /// When `tick` is due.
    var deadline: MeshInstant? { board.deadline }

    /// The notices that stand until their cause ends.
    var standing: [Notice] { board.current.filter(\.critical) }

    /// Time has passed.
    mutating func tick(now: MeshInstant) -> [NodeEvent] { Self.events(board.handle(.tick, now: now)) }

    /// There is something to tell a person.
    mutating func tell(_ notice: Notice, now: MeshInstant) -> [NodeEvent] {
        Self.events(board.handle(.tell(notice), now: now))
    }

    /// What the notice of this code was about is over.
    mutating func clear(_ code: String, now: MeshInstant) -> [NodeEvent] {
        Self.events(board.handle(.clear(code), now: now))
    }

    /// What ends notices has happened.
    mutating func clear(by clearer: Problem.Clearer, now: MeshInstant) -> [NodeEvent] {
        Self.events(board.handle(.cleared(by: clearer), now: now))
    }

    /// What is heard now.
    mutating func hears(_ heard: Playback) -> NodeEvent? {
        defer { playback = heard }
        return heard.isSame(as: playback) ? nil : .playback(heard)
    }

    /// What the driver can do now.
    mutating func offers(_ offered: Steering) -> NodeEvent? {
        guard offered != steering else { return nil }
        steering = offered
        return .steering(offered)
    }

    /// What the radio does now.
    mutating func radioDoes(_ activity: RadioActivity) -> NodeEvent? {
        guard activity != shownActivity else { return nil }
        shownActivity = activity
        return .radio(activity)
    }

    private static func events(_ actions: [NoticeBoard.Action]) -> [NodeEvent] {
        actions.map { action in
            switch action {
            case .show(let notice): .notice(notice)
            case .clear(let code): .noticeCleared(code: code)
            }
        }
    }
}
