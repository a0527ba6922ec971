// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Decides what is shown below the prompt: the current link, song, peers and queue.
struct Panel: Hashable {
    /// The style of a line.
    enum Style: Hashable {
        case plain, strong, faint, warning
    }

    /// A line, cut to the terminal's width.
    struct Line: Hashable {
        var text: String
        var style = Style.plain
    }

    /// At least one line. The number of lines leaves room for the prompt and the last messages.
    private(set) var lines: [Line]

    /// The panel for a screen on a terminal of this size.
    init(_ screen: Screen, _ size: TerminalSize, now: MeshInstant) {
        let columns = max(size.columns, TerminalLimits.leastColumns) - 1
        let room = max(min(size.rows / 2 - 1, size.rows - Self.rowsForOthers), 1)
        let text = screen.text(now)
        let head = screen.head(text, columns, now: now)
        let rows = text.map { screen.rows($0, columns) } ?? []
        // If there is little room, the top of the queue is preferred to the names of the guests.
        var lines = Array(head.prefix(max(room - min(rows.count, 2), 1)))
        let left = room - lines.count
        let shown = min(left, TerminalLimits.shownSongs)
        if rows.count > shown, shown > 0 {
            lines += rows.prefix(shown - 1)
            lines.append(Line(text: "      … " + screen.say("and \(rows.count - shown + 1) more"), style: .faint))
        } else {
            lines += rows.prefix(shown)
        }
        self.lines = lines.map { line in Line(text: ShownText.cut(line.text, to: columns), style: line.style) }
    }

    /// Rows for the prompt and the last messages. On taller terminals they get half of the screen: on 24 rows, all of
    /// `help` is visible.
    private static let rowsForOthers = 5
}

extension Screen {
    /// The lines above the queue.
    fileprivate func head(_ text: ViewText?, _ columns: Int, now: MeshInstant) -> [Panel.Line] {
        var lines = [status(now: now)]
        lines += watch.own.notices.standing.suffix(TerminalLimits.standingNotices).map { notice in
            // The message was printed above. In a narrow window the command is kept.
            let toast = ErrorToast(showing: notice, now: .zero)
            let button = Sentences.hint(toast.buttonText)
            let said = UntrustedText.shown(toast.headline(in: language))
            let message = ShownText.cut("! \(said)", to: columns - ShownText.width(button))
            return Panel.Line(text: message + button, style: .warning)
        }
        guard let text else { return lines }
        lines.append(
            Panel.Line(text: Self.row(text.state, text.song, text.playingMarks, columns), style: .strong))
        lines.append(guests(text))
        return lines
    }

    /// The queue, and suggestions that are not in it yet.
    fileprivate func rows(_ text: ViewText, _ columns: Int) -> [Panel.Line] {
        let queued = text.rows.map { row in
            let number = "\(row.number < 10 ? " " : "")\(row.number). "
            return Panel.Line(text: Self.row(number, row.song, row.marks, columns))
        }
        let others = text.others.map { other in
            Panel.Line(text: Self.row(" –  ", ViewText.SongText(other.title, ""), other.marks, columns), style: .faint)
        }
        return queued.isEmpty && others.isEmpty ? [Panel.Line(text: text.emptyQueue, style: .faint)] : queued + others
    }

    /// A song and its marks. If they do not fit, the artist is dropped first, and then the end of the marks. A title is
    /// cut only if the line is too short for the title alone; then the marks get a third of the line.
    private static func row(_ lead: String, _ song: ViewText.SongText, _ marks: String, _ columns: Int) -> String {
        let title = lead + song.title
        let besideMarks = marks.isEmpty ? columns : columns - ShownText.width(marks) - 2
        let whole = ShownText.width(title)
        let left = max(besideMarks, whole <= columns ? whole : columns * 2 / 3)
        let shown = behind(ShownText.cut(title, to: left), song.artist.isEmpty ? "" : " – " + song.artist, left)
        return behind(shown, marks.isEmpty ? "" : "  " + marks, columns)
    }

    /// A text, and as much of a second text as fits; no second text if too little of it fits.
    private static func behind(_ text: String, _ more: String, _ columns: Int) -> String {
        let room = columns - ShownText.width(text)
        let fits = ShownText.width(more) <= room || room >= TerminalLimits.leastBehindTitle
        return fits ? text + ShownText.cut(more, to: room) : text
    }

    private func status(now: MeshInstant) -> Panel.Line {
        let node = watch.node
        let name = watch.host.map { "\"\($0.name)\"" as LocalizedText } ?? "the host"
        switch watch.own.connection {
        case .hosting:
            return Panel.Line(text: say("\"\(node.peer.name)\" is on the air (\(node.radio))"), style: .faint)
        case .connected:
            let stale = watch.isStale ? "  " + say("stale") : ""
            return Panel.Line(text: say("Connected to \(name)") + "  \(linkToHost(now))\(stale)", style: .faint)
        case .reconnecting: return Panel.Line(text: say("Reconnecting to \(name)") + stale(now), style: .warning)
        case .connecting:
            let wanted: LocalizedText =
                watch.wantedHost.map { "Looking for \"\($0)\"" } ?? "Looking for a host"
            return Panel.Line(text: say(wanted) + stale(now), style: .warning)
        case .disconnected, .failed:
            // The text is short enough for half a window.
            let text: LocalizedText =
                watch.isStale
                ? "Not connected; type retry. The queue is stale" : "Not connected; type retry to look for a host"
            return Panel.Line(text: say(text), style: .warning)
        }
    }

    /// A guest's link to its host. Through a relay, the signal is the relay's.
    private func linkToHost(_ now: MeshInstant) -> String {
        guard var report = watch.host.flatMap({ watch.links[$0.id] }) else { return "" }
        let me = watch.view(songs: 0, now: now).guests.first(where: \.isMe)
        report.rssi = report.rssi ?? me?.rssi
        return LinkView.longWords(report, through: me?.via?.name, language)
    }

    /// The shown state is old, with its age.
    private func stale(_ now: MeshInstant) -> String {
        guard watch.isStale, watch.snapshot != nil else { return "" }
        let seconds = watch.lostAt.map { ", \((now - $0).components.seconds) s" } ?? ""
        return seconds + "; " + say("the queue is stale")
    }

    /// The peers; at a host with their links.
    private func guests(_ text: ViewText) -> Panel.Line {
        guard watch.node.role == .host, !text.view.guests.isEmpty else { return Panel.Line(text: text.guests) }
        let shown = text.view.guests.map { guest in
            let link = watch.links[guest.id].map { LinkView.words($0, through: guest.via?.name, language) } ?? ""
            return [guest.name, link, text.relay(guest)].filter { !$0.isEmpty }.joined(separator: " ")
        }
        return Panel.Line(text: say("Guests: \(shown.joined(separator: " · "))"))
    }
}
