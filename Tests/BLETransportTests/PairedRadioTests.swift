// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import Bearers

@Suite("Two radios as one")
struct PairedRadioTests {
    private var account = PairedPolicy()
    private let off = BearerError(.radioOff, "off")
    private let gone = BearerError(.noAdapter, "gone")

    private static func timing(_ advertising: Double, _ connection: Double, isSetByNode: Bool = true) -> AdapterTiming {
        AdapterTiming(
            isSetByNode: isSetByNode, advertising: advertising...advertising, connection: connection...connection,
            supervisionTimeout: 720)
    }

    private static func failure(_ event: BearerEvent?) -> BearerError? {
        if case .failed(let error) = event { error } else { nil }
    }

    private static func timing(_ event: BearerEvent?) -> AdapterTiming? {
        if case .timing(let timing) = event { timing } else { nil }
    }

    @Test("the pair has failed while either radio has, and each cause is reported")
    mutating func failures() {
        #expect(Self.failure(account.told(.failed(off), by: .dialling)) == off)
        #expect(Self.failure(account.told(.failed(gone), by: .dialled)) == gone)
        #expect(Self.failure(account.told(.recovered, by: .dialled)) == off)
        guard case .recovered = account.told(.recovered, by: .dialling) else {
            Issue.record("both work again")
            return
        }
    }

    @Test("the dialled radio gets the advertising intervals, and the dialling radio those of links")
    mutating func timing() {
        _ = account.told(.timing(Self.timing(1280, 30)), by: .dialled)
        #expect(Self.timing(account.told(.timing(Self.timing(20, 7.5)), by: .dialling)) == Self.timing(1280, 7.5))
        let slow = Self.timing(1280, 50, isSetByNode: false)
        #expect(
            Self.timing(account.told(.timing(slow), by: .dialled)) == Self.timing(1280, 7.5, isSetByNode: false))
    }

    @Test("an advertisement of one of the two is not reported by the other")
    mutating func echo() {
        let own = Advertisement(
            service: ServiceType.democracyDJ.uuid, peer: Peer(id: "c0ffee00112233445566778899aabbcc", name: "Us"))
        var other = own
        other.idPrefix[0] ^= 1
        account.advertised = own
        func heard(_ advertisement: Advertisement) -> BearerEvent {
            .heard(ScanResult(endpoint: BearerEndpoint(address: "x"), advertisement: advertisement, rssi: nil))
        }
        #expect(account.told(heard(own), by: .dialling) == nil)
        #expect(account.told(heard(other), by: .dialling) != nil)
    }
}
