// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import NIOCore
import NIOPosix
import Testing

@testable import Dashboard

/// Serialized: the measurement must not include other tests.
@Suite("Many slow and silent connections", .serialized, .timeLimit(.minutes(5)))
struct CrowdTests {
    private let host = HostInTheCar()

    private func car(
        pause: @escaping Dashboard.Pause = { try await Task.sleep(for: $0) }
    ) async throws -> Car {
        try await Car(node: host, pause: pause)
    }

    /// A connection that sends a text and reads nothing.
    private func deaf(_ port: Int, _ text: String) async throws -> any Channel {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: false).channelOption(.socketOption(.so_rcvbuf), value: 4_096)
            .connect(host: "127.0.0.1", port: port).get()
        // The server may have closed it already.
        if !text.isEmpty { try? await channel.writeAndFlush(ByteBuffer(string: text)) }
        return channel
    }

    private func events(_ port: Int) -> String { "GET /events HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n" }

    /// Median time of several taps until the view shows them, in milliseconds.
    private func tapToView(_ browser: Browser, _ page: OpenPage) async throws -> Double {
        var times: [Double] = []
        for number in 0..<16 {
            let wanted = number.isMultiple(of: 2) ? "pause" : "play"
            let began = ContinuousClock.now
            #expect(try await browser.command(wanted).status == 204)
            _ = try await page.view { $0.isPlaying == (wanted == "play") }
            times.append((ContinuousClock.now - began) / .milliseconds(1))
        }
        return times.sorted()[times.count / 2]
    }

    @Test("many connections do not delay a tap noticeably")
    func storm() async throws {
        // The pause between two views is not measured.
        let car = try await car { if $0 >= .seconds(1) { try await Task.sleep(for: $0) } }
        let browser = car.browser, page = try await browser.page()
        let alone = try await tapToView(browser, page)
        var crowd: [any Channel] = []
        for number in 0..<200 {
            let said = ["", "GET / HTTP/1.1\r\nHo", events(car.port)]
            crowd.append(try await deaf(car.port, said[number % said.count]))
        }
        #expect(await car.dashboard.connectionCount <= DashboardLimits.connectionsPerAddress)
        let streams = await car.dashboard.streams.count
        #expect(streams > 1 && streams <= DashboardLimits.driverStreamsPerAddress)
        let among = try await tapToView(browser, page)
        print("from tap to view: \(alone) ms alone, \(among) ms among 200 connections, \(streams) of them streams")
        #expect(among < alone + 200)
        for channel in crowd { channel.close(promise: nil) }
        try await page.close()
        await car.dashboard.nobodyLooks()
        try await car.stop()
    }

    @Test("streams that do not read are closed, and those that read see everything")
    func deafStreams() async throws {
        let car = try await car()
        let queue = (0..<100).map { number in
            let title = String(repeating: "\(number) ", count: 50)
            return QueueItem(
                song: Song(id: "q\(number)", title: title, artist: title, duration: 300), addedBy: "h0")
        }
        let page = try await car.browser.page()
        var crowd: [any Channel] = []
        let others = DashboardLimits.driverStreamsPerAddress - 1
        for _ in 0..<others { crowd.append(try await deaf(car.port, events(car.port))) }
        let began = ContinuousClock.now
        var revision: UInt64 = 10, version = 0
        repeat {
            revision += 1
            car.tell(
                .snapshot(
                    HostSnapshot(
                        epoch: 1, revision: revision, nowPlaying: nil, isPlaying: false, queue: queue,
                        connectedPeers: []), isStale: false))
            let before = version
            version = try await page.view { $0.version > before && $0.queue.count == 100 }.version
        } while await car.dashboard.streams.count > 1
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        print("\(others) streams that read nothing were cut after \(seconds) s and \(revision - 10) views")
        #expect(seconds > 8)
        #expect(await car.dashboard.connectionCount == 1)
        try await page.close()
        try await car.stop()
        for channel in crowd { channel.close(promise: nil) }
    }

    @Test("a thousand connections that come and go leave nothing behind")
    func comingAndGoing() async throws {
        let car = try await car()
        func cycle() async throws {
            let page = try await car.browser.page()
            _ = try await page.view()
            try await page.close()
        }
        for _ in 0..<300 { try await cycle() }
        await car.dashboard.nobodyLooks()
        let before = try residentBytes()
        for _ in 0..<1_000 { try await cycle() }
        await car.dashboard.nobodyLooks()
        let grown = try residentBytes() - before
        print("1,000 streams opened and closed: \(grown / 1_024) KiB more")
        #expect(grown < 16 << 20)
        #expect(await car.dashboard.sinks.isEmpty)
        #expect(await car.dashboard.encoded.isEmpty)
        #expect(await car.dashboard.connectionCount == 0)
        try await car.stop()
    }

    /// The memory of this process, which contains the server and its clients.
    private func residentBytes() throws -> Int {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return (Int(fields[1]) ?? 0) * 4_096
    }
}

extension Dashboard {
    /// Returns when the last stream has closed.
    func nobodyLooks() async {
        guard streams.count > 0 else { return }
        let (ends, end) = AsyncStream<Void>.makeStream()
        whenNobodyLooks = { end.finish() }
        for await _ in ends {}
    }
}
