// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshProtocol
import Testing

@testable import BLETransport
@testable import Bearers

@Suite("Advertisements over the air")
struct AdvertisementTests {
    static let advertisement = Advertisement(
        service: ServiceType.democracyDJ.uuid, peer: Peer(id: "c0ffee00112233445566778899aabbcc", name: "Dad's Car"))

    static let host = Peer(id: "c0ffee00112233445566778899aabbcc", name: "Dad's Car")
    static let relay = Peer(id: "f00df00d112233445566778899aabbcc", name: "Ana")

    private static func read(_ payload: [UInt8], _ localName: String) -> Advertisement? {
        Advertisement(service: ServiceType.democracyDJ.uuid, payload: payload, localName: localName)
    }

    @Test("the payload is as in the protocol's document: version and critical flags, PSM, identifier")
    func payload() {
        #expect(Self.advertisement.payload(psm: 0x83) == [0x20, 0x83, 0xC0, 0xFF, 0xEE, 0x00])
    }

    @Test("a host that requires bonds sets a flag, and a host with an unknown critical flag is not dialled")
    func critical() throws {
        var advertisement = Self.advertisement
        advertisement.flags.critical = [.bond]
        #expect(advertisement.payload(psm: 0x83) == [0x21, 0x83, 0xC0, 0xFF, 0xEE, 0x00])
        let read = try #require(Self.read([0x21, 0x83, 0xC0, 0xFF, 0xEE, 0], "Dad's Car"))
        #expect(read.version == 2 && read.flags.critical == [.bond] && read.isUnderstood)
        let asking = try #require(Self.read([0x22, 0x83, 0xC0, 0xFF, 0xEE, 0], "Dad's Car"))
        #expect(asking.flags.critical == [.proof] && asking.isUnderstood, "a PIN keeps no guest from dialling")
        let relay = try #require(Self.read([0x26, 0x83, 0xC0, 0xFF, 0xEE, 0], "Dad's Car"))
        #expect(relay.flags.critical == [.proof, .circuitsOnly] && relay.isUnderstood)
        for payload in [0x28, 0x2E, 0x10, 0x30] as [UInt8] {
            #expect(try #require(Self.read([payload, 0x83, 0xC0, 0xFF, 0xEE, 0], "Dad's Car")).isUnderstood == false)
        }
    }

    @Test("with flags and service UUID it fills a legacy advertisement to the last byte, and the name a scan response")
    func size() {
        let flags = 3
        let uuid = 2 + 16
        let manufacturer = 4 + Advertisement.payloadBytes
        #expect(flags + uuid + manufacturer == Limits.advertisementBytes)
        let long = Advertisement(
            service: Self.advertisement.service,
            peer: Peer(id: "c0ffee00112233445566778899aabbcc", name: String(repeating: "n", count: 60)))
        #expect(2 + long.localName.utf8.count == Limits.advertisementBytes)
        #expect(long.name.utf8.count == Limits.advertisedNameBytes)
        let relay = Advertisement(
            service: long.service, relay: Self.relay,
            to: Peer(id: Self.host.id, name: String(repeating: "n", count: 60)),
            hops: 255, hasRoom: true)
        #expect(2 + relay.localName.utf8.count == Limits.advertisementBytes)
        #expect(relay.name.utf8.count == Limits.relayedNameBytes && Limits.relayedNameBytes == 12)
    }

    @Test("an advertisement is read as it was written")
    func roundTrip() throws {
        var advertised = Self.advertisement
        let read = try #require(Self.read(advertised.payload(psm: 0x80), advertised.localName))
        #expect(read == advertised)
        #expect(read.peer == Peer(id: "c0ffee00", name: "Dad's Car"))
        #expect(read.head == "c0ffee001122334455")
        advertised.flags = AdvertisedFlags(critical: [.bond], ignorable: [.gatt])
        #expect(Self.read(advertised.payload(psm: 0x80), advertised.localName) == advertised)
    }

    @Test("a relay advertises its own identifier, and its host's name and identifier, hops and free slots")
    func relay() throws {
        let advertised = Advertisement(
            service: Self.advertisement.service, relay: Self.relay, to: Self.host, hops: 2, hasRoom: true)
        #expect(advertised.payload(psm: 0x81) == [0x24, 0x81, 0xF0, 0x0D, 0xF0, 0x0D])
        // Base64 of: accepts circuits; the five bytes after its head; two hops; the host's first five bytes.
        #expect(advertised.localName == "Dad's Car\u{1F}AREiM0RVAsD_7gAR")
        let read = try #require(Self.read(advertised.payload(psm: 0x81), advertised.localName))
        #expect(read == advertised && read.isUnderstood)
        #expect(read.peer == Peer(id: "f00df00d", name: "Dad's Car") && read.head == "f00df00d1122334455")
        #expect(read.hops == 2 && read.relayed?.idPrefix == [0xC0, 0xFF, 0xEE, 0x00, 0x11])
        let full = Advertisement(
            service: advertised.service, relay: Self.relay, to: Self.host, hops: 2, hasRoom: false)
        #expect(try #require(Self.read(full.payload(psm: 0x81), full.localName)).flags.ignorable == [.relays, .noRoom])
        let locked = Advertisement(
            service: advertised.service, relay: Self.relay, to: Self.host, hops: 2, hasRoom: true, asksForPIN: true)
        #expect(locked.payload(psm: 0x81).first == 0x26 && locked.localName == advertised.localName)
        let heard = try #require(Self.read(locked.payload(psm: 0x81), locked.localName))
        #expect(heard == locked && heard.isUnderstood)
    }

    @Test(
        "a relay's host's name is cut between characters, or is empty if not even one character fits",
        arguments: [
            ("Großmutters Auto", "Großmutters"), ("Papa's Cars and more", "Papa's Cars"), ("🚗🚌🚎🚑", "🚗🚌🚎"),
            ("👨‍👩‍👧‍👦 at sea", "👨‍👩"),
        ])
    func cutNames(name: String, advertised: String) throws {
        let relay = Advertisement(
            service: Self.advertisement.service, relay: Self.relay, to: Peer(id: Self.host.id, name: name), hops: 1,
            hasRoom: true)
        #expect(2 + relay.localName.utf8.count <= Limits.advertisementBytes)
        let read = try #require(Self.read(relay.payload(psm: 0x80), relay.localName))
        #expect(read.peer.name == NodeName(untrusted: advertised).text && read == relay)
    }

    @Test("a relay whose tail is invalid has an unknown host")
    func hostileTails() throws {
        let payload: [UInt8] = [0x24, 0x80, 0xF0, 0x0D, 0xF0, 0x0D]
        func tail(_ bytes: [UInt8]) -> String { "Dad's Car\u{1F}" + Data(bytes).base64EncodedString() }
        let (own, host) = ([UInt8](repeating: 9, count: 5), [UInt8](repeating: 7, count: 5))
        // No hops, or only half of the host's head.
        for bytes in [[1] + own, [1] + own + [0] + host, [1] + own + [2, 7, 7], [1] + own + [2]] {
            let read = try #require(Self.read(payload, tail(bytes)))
            #expect(read.relayed == nil && read.flags.critical == [.circuitsOnly] && read.idRest == own)
        }
        for bytes in [[], [1], [1, 9, 9]] as [[UInt8]] {
            let read = try #require(Self.read(payload, tail(bytes)))
            #expect(read.relayed == nil && read.idRest.isEmpty && read.name == "Dad's Car")
        }
        // Bytes that a later version adds are ignored.
        let more = try #require(Self.read(payload, tail([1] + own + [255] + host + [1, 2, 3])))
        #expect(more.relayed == .init(hops: 255, idPrefix: host))
    }

    @Test("without a valid scan response, an advertisement has eight digits of the identifier and the name")
    func withoutTail() throws {
        let payload = Self.advertisement.payload(psm: 0x80)
        for name in ["", "Dad's Car", "Dad's Car\u{1F}", "Dad's Car\u{1F}AAAA", "Dad's Car\u{1F}no base64"] {
            let read = try #require(Self.read(payload, name))
            #expect(read.head == "c0ffee00" && read.relayed == nil)
            #expect(read.name == (name.isEmpty ? "" : "Dad's Car"))
        }
    }

    @Test("foreign manufacturer data is ignored, and a PSM below the dynamic range is invalid")
    func foreign() {
        #expect(Self.read([0x20, 0x80, 0, 1, 2], "") == nil)
        #expect(Advertisement.psm(inPayload: [0x20, 0x7F, 0, 1, 2, 3]) == nil)
        #expect(Advertisement.psm(inPayload: [0x20, 0xFF, 0, 1, 2, 3]) == 0xFF)
    }

    @Test("An advertisement of any length and content is read within its bounds, or is not ours")
    func anything() {
        for length in 0...40 {
            for filler in UInt8.min ... .max {
                let payload = [UInt8](repeating: filler, count: length)
                let name = String(decoding: payload, as: UTF8.self) + "\u{1F}" + String(repeating: "A", count: length)
                let read = Self.read(payload, name)
                #expect((read != nil) == (length >= Advertisement.payloadBytes))
                if let psm = Advertisement.psm(inPayload: payload) { #expect(psm >= 0x80 && length >= 6) }
            }
        }
    }

    @Test("advertising is fast after a start and after a change of links, and slow after a quiet time")
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
