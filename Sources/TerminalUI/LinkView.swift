// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A link in a few characters: bars, signal strength and round trip, as far as they are known.
enum LinkView {
    /// Weakest signals, in dBm, for one to four bars. At -90 a link of ours is about to break; at -60 the other device is in
    /// the same car.
    private static let thresholds = [-90, -80, -70, -60]
    private static let bars: [Character] = ["▂", "▄", "▆", "█"]

    /// Like `▂▄▆· -68 dBm 12 ms`; empty where nothing is known yet.
    static func words(_ report: LinkReport) -> String {
        let signal = report.rssi.map { "\(strength($0)) \($0) dBm" }
        let way = report.relays == 0 ? nil : report.relays == 1 ? "through a relay" : "through \(report.relays) relays"
        return [signal, report.roundTrip.map(milliseconds), way].compactMap(\.self).joined(separator: " ")
    }

    /// The same and how the radios keep it up, like `▂▄▆· -68 dBm 12 ms, 2M every 15 ms`.
    static func longWords(_ report: LinkReport) -> String {
        let got = report.condition?.got
        let every = got?.interval.map { "every \(Int($0.rounded())) ms" }
        let radio = [got?.phy, every].compactMap(\.self).joined(separator: " ")
        return [words(report), radio].filter { !$0.isEmpty }.joined(separator: ", ")
    }

    private static func strength(_ rssi: Int) -> String {
        String(zip(bars, thresholds).map { rssi >= $1 ? $0 : "·" })
    }

    private static func milliseconds(_ duration: Duration) -> String {
        let milliseconds = duration / .milliseconds(1)
        return milliseconds < 1 ? "<1 ms" : "\(Int(milliseconds.rounded())) ms"
    }
}
