// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@Suite("Whether the radio works")
struct NetworkMonitorTests {
    /// An event at a second, the resulting actions, and the error of requests from then on.
    typealias Row = (at: Double, event: NetworkMonitor.Event, actions: [NetworkMonitor.Action], refusal: NetworkError?)

    @Test(
        "each event causes its actions",
        arguments: [
            (
                "an outage is reported once, and so is its end",
                [
                    (0, .radioFailed(.radioOff), [.networkUnavailable(.radioOff)], .radioOff),
                    (1, .radioFailed(.radioOff), [], .radioOff),
                    (2, .radioRecovered, [.networkAvailable], nil),
                    (3, .radioRecovered, [], nil),
                    (4, .radioFailed(.radioOff), [.networkUnavailable(.radioOff)], .radioOff),
                ]
            ),
            (
                "another cause during an outage is shown, and is not a second outage",
                [
                    (
                        0, .radioFailed(.serviceNotRunning), [.networkUnavailable(.serviceNotRunning)],
                        .serviceNotRunning
                    ),
                    (1, .radioFailed(.noAdapter), [.causeChanged(.noAdapter)], .noAdapter),
                    (2, .radioRecovered, [.networkAvailable], nil),
                ]
            ),
            (
                "one lost peer is not an outage",
                [(0, .linked("a"), [], nil), (1, .linkLost("a"), [], nil)]
            ),
            (
                "the loss of all peers at once is one outage, which ends when one is back",
                [
                    (0, .linked("a"), [], nil), (0, .linked("b"), [], nil), (0, .linked("c"), [], nil),
                    (9, .linkLost("a"), [], nil), (9.1, .linkLost("b"), [], nil),
                    (11, .linkLost("c"), [.networkUnavailable(.networkUnavailable), .tryAgain], .networkUnavailable),
                    (12, .linked("b"), [.networkAvailable], nil),
                    (13, .linked("a"), [], nil),
                ]
            ),
            (
                "an outage without a report ends if the radio, when asked, reports nothing for 30 seconds",
                [
                    (0, .linked("a"), [], nil), (0, .linked("b"), [], nil), (9, .linkLost("a"), [], nil),
                    (10, .linkLost("b"), [.networkUnavailable(.networkUnavailable), .tryAgain], .networkUnavailable),
                    (39.9, .tick, [], .networkUnavailable), (40, .tick, [.networkAvailable], nil), (41, .tick, [], nil),
                ]
            ),
            (
                "an outage that the radio reports lasts until the radio reports its end",
                [
                    (0, .linked("a"), [], nil), (0, .linked("b"), [], nil), (9, .linkLost("a"), [], nil),
                    (10, .linkLost("b"), [.networkUnavailable(.networkUnavailable), .tryAgain], .networkUnavailable),
                    (11, .radioFailed(.radioOff), [.causeChanged(.radioOff)], .radioOff),
                    (40, .tick, [], .radioOff), (50, .radioRecovered, [.networkAvailable], nil),
                ]
            ),
            (
                "peers that are lost one by one are not an outage",
                [
                    (0, .linked("a"), [], nil), (0, .linked("b"), [], nil),
                    (9, .linkLost("a"), [], nil), (11.1, .linkLost("b"), [], nil),
                ]
            ),
            (
                "a remaining peer shows that the radio works",
                [
                    (0, .linked("a"), [], nil), (0, .linked("b"), [], nil), (0, .linked("c"), [], nil),
                    (9, .linkLost("a"), [], nil), (9, .linkLost("b"), [], nil),
                ]
            ),
            (
                "peers that say goodbye are not lost",
                [
                    (0, .linked("a"), [], nil), (0, .linked("b"), [], nil), (0, .linked("c"), [], nil),
                    (9, .linkLost("a"), [], nil), (9, .unlinked("b"), [], nil),
                    (9, .linkLost("c"), [.networkUnavailable(.networkUnavailable), .tryAgain], .networkUnavailable),
                ]
            ),
            (
                "the last one's goodbye shows that the radio works",
                [
                    (0, .linked("a"), [], nil), (0, .linked("b"), [], nil), (0, .linked("c"), [], nil),
                    (9, .linkLost("a"), [], nil), (9, .linkLost("b"), [], nil), (9, .unlinked("c"), [], nil),
                ]
            ),
            (
                "one peer that is lost repeatedly counts once",
                [
                    (0, .linked("a"), [], nil), (1, .linkLost("a"), [], nil), (1.1, .linked("a"), [], nil),
                    (1.2, .linkLost("a"), [], nil), (1.3, .linkLost("a"), [], nil),
                ]
            ),
            (
                "a lost peer that is back does not count",
                [
                    (0, .linked("a"), [], nil), (0, .linked("b"), [], nil), (1, .linkLost("a"), [], nil),
                    (1.1, .linked("a"), [], nil), (1.2, .unlinked("a"), [], nil), (1.3, .linkLost("b"), [], nil),
                ]
            ),
            (
                "losses that a failure of the radio explains are not a second outage",
                [
                    (0, .linked("a"), [], nil), (0, .linked("b"), [], nil),
                    (9, .radioFailed(.radioOff), [.networkUnavailable(.radioOff)], .radioOff),
                    (9, .linkLost("a"), [], .radioOff), (9, .linkLost("b"), [], .radioOff),
                    (10, .radioRecovered, [.networkAvailable], nil),
                ]
            ),
            (
                "a later failure is reported as the cause of the losses, and a late link does not end it",
                [
                    (0, .linked("a"), [], nil), (0, .linked("b"), [], nil), (9, .linkLost("a"), [], nil),
                    (9, .linkLost("b"), [.networkUnavailable(.networkUnavailable), .tryAgain], .networkUnavailable),
                    (
                        9.2, .radioFailed(.blocked(bySwitch: false)), [.causeChanged(.blocked(bySwitch: false))],
                        .blocked(bySwitch: false)
                    ),
                    (9.3, .linked("c"), [], .blocked(bySwitch: false)),
                    (20, .radioRecovered, [.networkAvailable], nil),
                ]
            ),
            (
                "retry asks the radio again while it is out, and only then",
                [
                    (0, .retry, [], nil),
                    (1, .radioFailed(.noAdapter), [.networkUnavailable(.noAdapter)], .noAdapter),
                    (2, .retry, [.tryAgain], .noAdapter),
                    (3, .retry, [.tryAgain], .noAdapter),
                ]
            ),
        ] as [(String, [Row])])
    func table(name: String, rows: [Row]) {
        var monitor = NetworkMonitor()
        #expect(monitor.refusal == nil)
        for row in rows {
            #expect(monitor.handle(row.event, now: .seconds(row.at)) == row.actions, "\(name), at \(row.at) s")
            #expect(monitor.refusal == row.refusal, "\(name), at \(row.at) s")
        }
    }
}
