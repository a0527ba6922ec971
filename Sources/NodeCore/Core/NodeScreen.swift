// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// What the displays were shown last: notices, playback, the driver's commands and the radio's activity. Only changes
/// are reported.
struct NodeScreen: Sendable {
    private var board = NoticeBoard()
    private var playback: Playback?
    private var steering: Steering?
    private var activity = RadioActivity()
    private var shownActivity: RadioActivity?
    /// The number of messages that could not be sent, by cause.
    private var unsent: [SendError.Cause: Int] = [:]

    var deadline: MeshInstant? { board.deadline }

    /// The notices that stay until their cause ends.
    var standing: [Notice] { board.current.filter(\.critical) }

    mutating func tick(now: MeshInstant) -> [NodeEvent] { Self.events(board.handle(.tick, now: now)) }

    /// Shows a notice.
    mutating func tell(_ notice: Notice, now: MeshInstant) -> [NodeEvent] {
        Self.events(board.handle(.tell(notice), now: now))
    }

    /// The cause of the notice with this code has ended.
    mutating func clear(_ code: String, now: MeshInstant) -> [NodeEvent] {
        Self.events(board.handle(.clear(code), now: now))
    }

    /// An event that ends notices has occurred.
    mutating func clear(by clearer: Problem.Clearer, now: MeshInstant) -> [NodeEvent] {
        Self.events(board.handle(.cleared(by: clearer), now: now))
    }

    /// Reports the playback, the driver's commands and the radio's activity if they have changed.
    mutating func changes(_ decisions: NodeDecisions, _ route: Route, now: MeshInstant) -> [NodeEvent] {
        let host = decisions.app.host
        return [
            host.flatMap { hears($0.playback(now: now)) }, host.flatMap { offers($0.steering) },
            radioDoes(
                links: decisions.linkedOverRadio, isAdvertising: decisions.app.isHosting,
                isScanning: route.isScanning, isDialling: route.isDialling),
        ].compactMap(\.self)
    }

    /// Reports the playback if it has changed.
    private mutating func hears(_ heard: Playback) -> NodeEvent? {
        defer { playback = heard }
        return heard.isSame(as: playback) ? nil : .playback(heard)
    }

    /// Reports the driver's commands if they have changed.
    private mutating func offers(_ offered: Steering) -> NodeEvent? {
        guard offered != steering else { return nil }
        steering = offered
        return .steering(offered)
    }

    /// The adapter's default parameters are known.
    mutating func adapterTimed(_ timing: AdapterTiming) { activity.adapter = timing }

    /// Reports the radio's activity if it has changed. `links` is the number of peers that are linked over the radio.
    private mutating func radioDoes(links: Int, isAdvertising: Bool, isScanning: Bool, isDialling: Bool) -> NodeEvent? {
        activity.links = links
        activity.isAdvertising = isAdvertising
        activity.isScanning = isScanning
        // A dial ends when its link is up.
        activity.isDialling = isDialling && links == 0
        guard activity != shownActivity else { return nil }
        shownActivity = activity
        return .radio(activity)
    }

    /// Counts a message that could not be sent. Returns the number of failures with this cause.
    mutating func count(_ failure: SendError) -> Int {
        unsent[failure.cause, default: 0] += 1
        return unsent[failure.cause] ?? 1
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
