// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol
import MeshSession

/// Decides what stands below the prompt: the link, what plays, who is there, and the queue, as they are now.
struct Panel: Hashable {
    /// How a line stands out.
    enum Style: Hashable {
        case plain, strong, faint, warning
    }

    /// A line, cut to the terminal's width.
    struct Line: Hashable {
        var text: String
        var style = Style.plain
    }

    /// At least one line, and at most as many as leave room for the prompt and for what was said last.
    private(set) var lines: [Line]

    /// The panel of a screen on a terminal of some size.
    init(_ screen: Screen, _ size: TerminalSize, now: MeshInstant) {
        let columns = max(size.columns, TerminalLimits.leastColumns) - 1
        let room = max(min(size.rows / 2 - 1, size.rows - Self.rowsForOthers), 1)
        let head = screen.head(now: now)
        let rows = screen.rows(columns)
        // Where there is little room, the top of the queue goes before the names of the guests.
        var lines = Array(head.prefix(max(room - min(rows.count, 2), 1)))
        let left = room - lines.count
        let shown = min(left, TerminalLimits.shownSongs)
        if rows.count > shown, shown > 0 {
            lines += rows.prefix(shown - 1)
            lines.append(Line(text: "      … and \(rows.count - shown + 1) more", style: .faint))
        } else {
            lines += rows.prefix(shown)
        }
        self.lines = lines.map { line in Line(text: ShownText.cut(line.text, to: columns), style: line.style) }
    }

    /// The prompt, and some lines of what was said last. Where there is more, it gets half of the screen: on 24 rows all of
    /// `help` can be seen.
    private static let rowsForOthers = 5
}

extension Screen {
    /// What stands above the queue.
    fileprivate func head(now: MeshInstant) -> [Panel.Line] {
        var lines = [status(now: now)]
        lines += notices.map { notice in
            Panel.Line(text: "! \(notice.message)\(notice.button == nil ? "" : " [retry]")", style: .warning)
        }
        guard let queue else { return lines }
        let marks = queue.playingMarks
        lines.append(Panel.Line(text: queue.playing + (marks.isEmpty ? "" : "  \(marks)"), style: .strong))
        lines.append(guests(queue))
        return lines
    }

    /// The queue, and what was suggested and is not in it yet.
    fileprivate func rows(_ columns: Int) -> [Panel.Line] {
        let queued = (queue?.rows ?? []).map { row in
            Panel.Line(
                text: Self.twoColumns("\(row.number < 10 ? " " : "")\(row.number). \(row.song)", row.marks, columns))
        }
        let known = Set((choice.shown?.queue ?? []).map(\.id))
        let others = wishes.wishes.filter { !known.contains($0.songID) }.map { wish in
            Panel.Line(text: Self.twoColumns(" –  \(names.title(wish.songID))", wish.words, columns), style: .faint)
        }
        return queued + others
    }

    /// What is marked stays legible where a title is long.
    private static func twoColumns(_ song: String, _ marks: String, _ columns: Int) -> String {
        guard !marks.isEmpty else { return song }
        let left = max(columns - ShownText.width(marks) - 2, columns / 3)
        return ShownText.cut(song, to: left) + "  " + marks
    }

    private func status(now: MeshInstant) -> Panel.Line {
        guard node.role == .guest else {
            return Panel.Line(text: "\"\(node.peer.name)\" is on the air (\(node.radio))", style: .faint)
        }
        let name = host.map { "\"\($0.name)\"" } ?? "the host"
        switch connection {
        case .connected:
            let link = host.flatMap { links[$0.id] }.map(LinkView.longWords) ?? ""
            let stale = isStale ? "  stale" : ""
            return Panel.Line(text: "Connected to \(name)  \(link)\(stale)", style: .faint)
        case .reconnecting: return Panel.Line(text: "Reconnecting to \(name)\(stale(now))", style: .warning)
        case .connecting: return Panel.Line(text: "Looking for a host\(stale(now))", style: .warning)
        case .disconnected:
            return Panel.Line(text: "Not connected\(stale(now)); type retry to look for a host", style: .warning)
        case .failed:
            return Panel.Line(text: "Not connected\(stale(now)); type retry to look for a host", style: .warning)
        }
    }

    /// What is on view is old, and for how long.
    private func stale(_ now: MeshInstant) -> String {
        guard isStale, choice.shown != nil else { return "" }
        return lostAt.map { ", \((now - $0).components.seconds) s; the queue is stale" } ?? "; the queue is stale"
    }

    /// Who is there, at a host with the links to them.
    private func guests(_ queue: QueueView) -> Panel.Line {
        guard node.role == .host, let guests = choice.shown?.connectedPeers, !guests.isEmpty else {
            return Panel.Line(text: queue.guests)
        }
        let shown = guests.map { guest in
            let link = links[guest.id].map(LinkView.words) ?? ""
            return guest.name + (link.isEmpty ? "" : " \(link)")
        }
        return Panel.Line(text: "Guests: \(shown.joined(separator: " · "))")
    }
}
