// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NIOCore
import NIOPosix
import Testing

@testable import Dashboard

@Suite("Covers on the way to phones", .serialized, .timeLimit(.minutes(5)))
struct CoverTests {
    private func connection() -> EventLoopPromise<Void> {
        MultiThreadedEventLoopGroup.singleton.any().makePromise()
    }

    @Test("a cover waits for a slot as long as its connection is open, and only a limited number wait")
    func places() async throws {
        let pictures = Pictures(limit: 1, patience: .seconds(60))
        let open = connection(), gone = connection()
        var first = await pictures.place(until: open.futureResult)
        #expect(first != nil)
        let others = (0..<DashboardLimits.waitingPictures).map { number in
            Task { await pictures.place(until: number == 0 ? gone.futureResult : open.futureResult) != nil }
        }
        while await pictures.waitingCount < DashboardLimits.waitingPictures { await Task.yield() }
        #expect(await pictures.place(until: open.futureResult) == nil)
        gone.succeed()
        #expect(await others[0].value == false)
        // Each request releases its slot at once, and the next one gets it.
        first = nil
        for other in others.dropFirst() { #expect(await other.value) }
        open.succeed()
    }

    @Test("a cover without a slot in time is refused")
    func patience() async throws {
        let pictures = Pictures(limit: 1, patience: .milliseconds(1))
        let open = connection()
        let first = await pictures.place(until: open.futureResult)
        #expect(await pictures.place(until: open.futureResult) == nil)
        withExtendedLifetime(first) {}
        open.succeed()
    }

    @Test("the driver sees covers while passengers' phones take all they can")
    func driversPlace() async throws {
        let places = PicturePlaces()
        let open = connection()
        let guest = ViewStreams.Viewer.webGuest("ana")
        var taken: [Pictures.Place?] = []
        for _ in 0..<(DashboardLimits.picturesAtOnce - DashboardLimits.driverPicturesAtOnce) {
            taken.append(await places.of(guest).place(until: open.futureResult))
        }
        let waits = Task { await places.of(guest).place(until: open.futureResult) != nil }
        while await places.of(guest).waitingCount == 0 { await Task.yield() }
        #expect(await places.of(.node).place(until: open.futureResult) != nil)
        taken = []
        #expect(await waits.value)
        open.succeed()
    }

    @Test("a cover is in memory until its phone has it, so phones that do not read cannot fill the memory")
    func memory() async throws {
        var options = DashboardOptions()
        let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        options.art = { _ in png + [UInt8](repeating: 0, count: DashboardLimits.pictureBytes - png.count) }
        let car = try await Car(options: options)
        var deaf: [any Channel] = []
        for _ in 0..<DashboardLimits.picturesAtOnce {
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelOption(.autoRead, value: false).channelOption(.socketOption(.so_rcvbuf), value: 4_096)
                .connect(host: "127.0.0.1", port: car.port).get()
            let request = "GET /art/s1 HTTP/1.1\r\nHost: 127.0.0.1:\(car.port)\r\n\r\n"
            try await channel.writeAndFlush(ByteBuffer(string: request))
            deaf.append(channel)
        }
        // The last request may not have its slot yet.
        var status = 200
        for _ in 0..<4 where status == 200 { status = try await car.browser.get("/art/s1").status }
        #expect(status == 503)
        for channel in deaf { try await channel.close() }
        while try await car.browser.get("/art/s1").status != 200 {}
        try await car.stop()
    }
}
