// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import BLETransport
@testable import Bearers

@Suite("Advertising by bluetoothd or by the kernel")
struct AdvertisingRouteTests {
    static let failed = BearerError(.failed, "Failed to register advertisement")
    static let off = BearerError(.radioOff, "hci0 is switched off")

    @Test("after three failures of bluetoothd the kernel advertises, and is used from then on")
    func bypass() {
        var route = AdvertisingRoute()
        for _ in 0..<RadioLimits.registerTries {
            #expect(route.way == .service)
            #expect(route.failed(Self.failed, mayAskKernel: true) == .retry)
        }
        #expect(route.way == .kernel)
        #expect(!route.bypassesService)
        route.worked()
        #expect(route.way == .kernel && route.bypassesService)
        route.forget()
        #expect(route.way == .service)
    }

    @Test("if the kernel does not advertise either, the failure is reported, and may be worth a reset")
    func broken() {
        var route = AdvertisingRoute()
        for _ in 0..<RadioLimits.registerTries { _ = route.failed(Self.failed, mayAskKernel: true) }
        #expect(route.failed(Self.failed, mayAskKernel: true) == .report)
        #expect(route.way == .service)
    }

    @Test("without the capability only bluetoothd is asked, and after the first refusal once each time")
    func forbidden() {
        var route = AdvertisingRoute()
        for _ in 1..<RadioLimits.registerTries { #expect(route.failed(Self.failed, mayAskKernel: false) == .retry) }
        #expect(route.failed(Self.failed, mayAskKernel: false) == .reportRefusal)
        #expect(route.way == .service)
        #expect(route.failed(Self.failed, mayAskKernel: false) == .reportRefusal)
        route.worked()
        #expect(route.failed(Self.failed, mayAskKernel: false) == .retry)
    }

    @Test("if bluetoothd has no advertisement left, the kernel advertises, or the error of bluetoothd is reported")
    func full() {
        let full = BearerError(.unsupported, "bluetoothd has no free advertisement")
        var route = AdvertisingRoute()
        #expect(route.failed(full, mayAskKernel: false) == .report)
        #expect(route.failed(full, mayAskKernel: true) == .retry)
        #expect(route.way == .kernel)
        #expect(route.failed(Self.failed, mayAskKernel: true) == .reportEarlier(full))
        #expect(route.way == .service)
        #expect(route.failed(full, mayAskKernel: true) == .retry)
        route.worked()
        #expect(route.way == .kernel && route.bypassesService)
    }

    @Test("a process without the effective capability gets the same report")
    func container() {
        var route = AdvertisingRoute()
        for _ in 0..<RadioLimits.registerTries { _ = route.failed(Self.failed, mayAskKernel: true) }
        #expect(route.failed(BearerError(.notPermitted), mayAskKernel: true) == .reportRefusal)
    }

    @Test("a failure that succeeds at the second try, or has another cause, does not change the route")
    func passing() {
        var route = AdvertisingRoute()
        #expect(route.failed(Self.failed, mayAskKernel: true) == .retry)
        route.worked()
        #expect(route.failed(Self.failed, mayAskKernel: true) == .retry)
        #expect(route.failed(Self.off, mayAskKernel: true) == .report)
        #expect(route.failed(Self.failed, mayAskKernel: true) == .retry)
        #expect(route.way == .service)
    }

    @Test("if the kernel stops advertising, bluetoothd is used again")
    func back() {
        var route = AdvertisingRoute()
        for _ in 0..<RadioLimits.registerTries { _ = route.failed(Self.failed, mayAskKernel: true) }
        route.worked()
        #expect(route.failed(Self.failed, mayAskKernel: true) == .retry)
        #expect(route.way == .service)
    }

    @Test("the kernel gets the same bytes that bluetoothd makes: flags, service and data, and the name")
    func bytes() throws {
        let service = ServiceUUID(bytes: Array(0..<16))
        let peer = Peer(id: "00112233445566778899aabbccddeeff", name: "Dad's Car")
        let bytes = AdvertisedBytes(Advertisement(service: service, peer: peer), psm: 0x85)
        #expect(bytes.advertisement.count == Limits.advertisementBytes)
        #expect(bytes.advertisement.starts(with: [2, 1, 6, 17, 7] + (0..<16).reversed() + [9, 0xFF, 0xFF, 0xFF]))
        #expect(bytes.scanResponse.count <= Limits.advertisementBytes)
        #expect(bytes.scanResponse.starts(with: [UInt8(bytes.scanResponse.count - 1), 9] + Array("Dad's Car".utf8)))
        let contents = bytes.forKernel
        #expect(Int(contents.count) == bytes.advertisement.count)
        #expect(withUnsafeBytes(of: contents.bytes) { Array($0) } == bytes.advertisement)
    }
}
