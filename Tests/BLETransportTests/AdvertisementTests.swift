// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import BLETransport

@Suite("What a host says of itself over the air")
struct AdvertisementTests {
    static let advertisement = Advertisement(
        service: ServiceType.democracyDJ.uuid,
        peer: Peer(id: "c0ffee00112233445566778899aabbcc", name: "Dad's Car"), hops: 2)

    @Test("the payload is as the protocol's document says: version, PSM, hops, identifier")
    func payload() {
        #expect(Self.advertisement.payload(psm: 0x83) == [0x10, 0x83, 2, 0xC0, 0xFF, 0xEE])
    }

    @Test("a host that takes bonded boxes only says so by a flag, which others pass over")
    func bond() throws {
        var advertisement = Self.advertisement
        advertisement.requiresBond = true
        #expect(advertisement.payload(psm: 0x83) == [0x11, 0x83, 2, 0xC0, 0xFF, 0xEE])
        let read = try #require(
            Advertisement(
                service: advertisement.service, payload: [0x1F, 0x83, 2, 0xC0, 0xFF, 0xEE], name: "Dad's Car"))
        #expect(read.version == 1 && read.requiresBond)
    }

    @Test("with flags and service UUID it fills a legacy advertisement to the last byte")
    func size() {
        let flags = 3
        let uuid = 2 + 16
        let manufacturer = 4 + Advertisement.payloadBytes
        #expect(flags + uuid + manufacturer == Limits.advertisementBytes)
    }

    @Test("what was advertised is what is read")
    func roundTrip() throws {
        let read = try #require(
            Advertisement(
                service: Self.advertisement.service, payload: Self.advertisement.payload(psm: 0x80), name: "Dad's Car"))
        #expect(read == Self.advertisement)
        #expect(read.peer == Peer(id: "c0ffee", name: "Dad's Car"))
    }

    @Test("foreign manufacturer data is not ours, and a PSM below the dynamic ones is none")
    func foreign() {
        let service = ServiceType.democracyDJ.uuid
        #expect(Advertisement(service: service, payload: [0x10, 0x80, 0, 1, 2], name: "") == nil)
        #expect(Advertisement.psm(inPayload: [0x10, 0x7F, 0, 1, 2, 3]) == nil)
        #expect(Advertisement.psm(inPayload: [0x10, 0xFF, 0, 1, 2, 3]) == 0xFF)
    }

    @Test("An advertisement of any length and content is read within its bounds, or is not ours")
    func anything() {
        let service = ServiceType.democracyDJ.uuid
        for length in 0...40 {
            for filler in UInt8.min ... .max {
                let payload = [UInt8](repeating: filler, count: length)
                let read = Advertisement(service: service, payload: payload, name: "Dad's Car")
                #expect((read != nil) == (length >= Advertisement.payloadBytes))
                if let psm = Advertisement.psm(inPayload: payload) { #expect(psm >= 0x80 && length >= 6) }
            }
        }
    }

    @Test("advertising is fast after a start and a change of links, and slow when nobody is expected")
    func pace() {
        var policy = AdvertisingPolicy(now: .zero)
        #expect(policy.currentPace == .fast)
        #expect(AdvertisingPace.fast.milliseconds == 20...20)
        #expect(policy.tick(now: .seconds(59)) == nil)
        #expect(policy.tick(now: .seconds(60)) == .slow)
        #expect(policy.deadline == nil)
        #expect(policy.linksChanged(now: .seconds(90)) == .fast)
        #expect(policy.deadline == .seconds(150))
        #expect(policy.tick(now: .seconds(150)) == .slow)
        #expect(policy.tick(now: .seconds(151)) == nil)
    }
}
