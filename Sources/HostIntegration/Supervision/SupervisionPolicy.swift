// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import NodeCore

/// Decides the messages about a host to the system's service manager (sd_notify(3)).
struct SupervisionPolicy {
    private var isReady = false
    private var status = ""
    private var name = ""
    private var guests = 0
    private var song: String?
    /// The problems that keep the host from working, the latest last.
    private var troubles: [(code: String, message: String)] = []

    /// The message that is sent after each answer of the node.
    static let beat = "WATCHDOG=1"

    /// The messages for an event.
    mutating func handle(_ event: NodeEvent) -> [String] {
        switch event {
        case .ready(let node):
            name = node.peer.name
            isReady = true
            return ["READY=1"] + changes()
        case .snapshot(let snapshot, isStale: false):
            guests = snapshot.guestCount
            song = snapshot.nowPlaying?.song.title
            return changes()
        case .notice(let notice) where notice.critical:
            troubles.removeAll { $0.code == notice.code }
            troubles.append((notice.code, notice.message))
            return changes()
        case .noticeCleared(let code):
            troubles.removeAll { $0.code == code }
            return changes()
        case .bye: return ["STOPPING=1"]
        default: return []
        }
    }

    private mutating func changes() -> [String] {
        guard isReady, sentence != status else { return [] }
        status = sentence
        // A line break would start another assignment.
        return ["STATUS=" + String(sentence.map { $0.isNewline ? " " : $0 })]
    }

    /// The state of the host, for a person who types `systemctl status`.
    private var sentence: String {
        if let trouble = troubles.last { return trouble.message }
        let company = guests == 0 ? "no guests" : guests == 1 ? "1 guest" : "\(guests) guests"
        return "\"\(name)\" is on the air, \(company)\(song.map { ", plays \"\($0)\"" } ?? "")"
    }
}
