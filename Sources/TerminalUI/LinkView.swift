// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// A link in a few characters: bars, signal strength and round trip, as far as they are known.
enum LinkView {
    /// Weakest signals, in dBm, for one to four bars. At -90 a link is about to break. At -60 the other device is in
    /// the same car.
    private static let thresholds = [-90, -80, -70, -60]
    private static let bars: [Character] = ["▂", "▄", "▆", "█"]

    /// Text like `▂▄▆· -68 dBm 12 ms`; empty if nothing is known yet. `relay` is the name of the relay on its route.
    static func words(_ report: LinkReport, through relay: String? = nil, _ language: Language = .english) -> String {
        let network: String? =
            switch report.bearer {
            case .lan: language.text("in the network")
            case .broker: language.text("through the broker")
            case .l2cap, .virtual, nil: nil
            }
        let signal = report.rssi.map { "\(strength($0)) \($0) dBm" } ?? network
        return [signal, report.roundTrip.map(milliseconds), way(report.relays, relay).map(language.text)].compactMap(
            \.self
        )
        .joined(separator: " ")
    }

    private static func way(_ hops: Int, _ relay: String?) -> LocalizedText? {
        switch (hops, relay) {
        case (0, _): nil
        case (1, nil): "through a relay"
        case (1, .some(let relay)): "through \(relay)"
        case (_, nil): "through \(hops) relays"
        case (_, .some(let relay)): "through \(relay) (\(hops) hops)"
        }
    }

    /// The text with the radio's parameters, like `▂▄▆· -68 dBm 12 ms, 2M every 15 ms`.
    static func longWords(
        _ report: LinkReport, through relay: String? = nil, _ language: Language = .english
    ) -> String {
        let got = report.condition?.got
        let every = got?.interval.map { language.text("every \(Int($0.rounded())) ms") }
        let radio = [got?.phy, every].compactMap(\.self).joined(separator: " ")
        return [words(report, through: relay, language), radio].filter { !$0.isEmpty }.joined(separator: ", ")
    }

    private static func strength(_ rssi: Int) -> String {
        String(zip(bars, thresholds).map { rssi >= $1 ? $0 : "·" })
    }

    private static func milliseconds(_ duration: Duration) -> String {
        let milliseconds = duration / .milliseconds(1)
        return milliseconds < 1 ? "<1 ms" : "\(Int(milliseconds.rounded())) ms"
    }
}
