// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeStore
import Testing

@testable import MeshNode

@Suite("Steps, and what a refused write takes back")
struct StepTests {
    @Test("Retry while the radio is out tries the radio again, and leaves no scan behind at a linked guest")
    func retryDuringOutage() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.feed(.radioFailed(.radioFailed(cause: "a test")), to: .guest)
        let before = pair.performed[1].count
        pair.feed(.input(.retry), to: .guest)
        let scans = pair.performed[1][before...].compactMap { action -> Bool? in
            switch action {
            case .startRadio: true
            case .stopScanning: false
            default: nil
            }
        }
        #expect(scans == [true, false])
        let activity = pair.shown[1].compactMap { if case .radio(let activity) = $0 { activity } else { nil } }.last
        #expect(activity?.isScanning == false)
    }
}
