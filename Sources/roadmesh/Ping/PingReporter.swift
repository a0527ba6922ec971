// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import MeshSession
import NodeCore
import TerminalUI

/// Shows the results of `ping` and `trace`, to a person or a program.
struct PingReporter: Sendable {
    enum Style: Sendable {
        /// The lines of all hops, written again after each round.
        case live
        /// A line for each round.
        case lines
        /// Reports only the figures at the end.
        case summary
        /// Events for a program.
        case json
    }

    private let style: Style

    init(_ style: Style) { self.style = style }

    func begin(_ local: Peer) { emit(.ready(local)) }

    /// The route is found, or has changed.
    func show(_ path: MeshPath, _ host: Peer) {
        guard style != .json else { return emit(.path(path, host: host)) }
        let links = path.hops == 1 ? "linked directly" : "\(path.hops) links away"
        StandardOutput.write("\(host.displayName) \(host.id.prefix(8)), \(links)")
        // The lines of the last route stay above.
        if style == .live { StandardOutput.write(unfinished: String(repeating: "\n", count: path.hops)) }
    }

    /// A round was measured.
    func show(_ number: Int, _ times: [Duration?], _ figures: PathFigures, _ rssi: Int?) {
        switch style {
        case .json: for (index, time) in times.enumerated() { emit(.echo(number: number, hop: index + 1, time)) }
        case .summary: break
        case .lines:
            let texts = zip(figures.names, times).map { "\($0) \($1.map(PathFigures.text) ?? "no answer")" }
            StandardOutput.write("\(number)  \(texts.joined(separator: ", "))")
        case .live:
            let lines = figures.lines(rssi: rssi, isLive: true).map { "\u{1B}[2K\($0)\n" }
            StandardOutput.write(unfinished: "\u{1B}[\(lines.count)A" + lines.joined())
        }
    }

    /// The measurement has ended.
    func end(_ figures: PathFigures, _ rssi: Int?) {
        guard style == .json else {
            if style != .summary { StandardOutput.write("") }
            return StandardOutput.write(figures.lines(rssi: rssi, isLive: false).joined(separator: "\n"))
        }
        for (index, (hop, name)) in zip(figures.hops, figures.names).enumerated() {
            emit(.hop(index + 1, name: name, hop, rssi: index == 0 ? rssi : nil))
        }
    }

    private func emit(_ event: LinkToolEvent) {
        guard style == .json else { return }
        StandardOutput.write(JSONLine.text(TimedLinkToolEvent(event)))
    }
}
