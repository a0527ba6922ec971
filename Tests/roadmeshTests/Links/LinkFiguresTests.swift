// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import roadmesh

@Suite("The figures of pings and pipes")
struct LinkFiguresTests {
    private static func figures(_ milliseconds: [Int?]) -> HopFigures {
        var figures = HopFigures()
        for time in milliseconds { figures.add(time.map { .milliseconds($0) }) }
        return figures
    }

    @Test("loss, extremes, mean and jitter count only what was answered")
    func pings() {
        let figures = Self.figures([10, nil, 14, 12])
        #expect(figures.sent == 4 && figures.answered == 3 && figures.loss == 0.25)
        #expect(figures.least == .milliseconds(10) && figures.most == .milliseconds(14))
        #expect(figures.mean == .milliseconds(12))
        // 4 ms up, then 2 ms down.
        #expect(figures.jitter == .milliseconds(3))
    }

    @Test("without answers there are no times")
    func nothing() {
        let figures = Self.figures([nil, nil])
        #expect(figures.loss == 1 && figures.mean == nil && figures.jitter == nil && figures.sparkline == "××")
        #expect(HopFigures().loss == 0)
    }

    @Test("the bars are as high as the times, and show the newest")
    func sparkline() {
        #expect(Self.figures([10, 17, nil, 13]).sparkline == "▁█×▄")
        #expect(Self.figures([5, 5]).sparkline == "▁▁")
        let many = Self.figures((0..<100).map { $0 })
        #expect(many.sparkline.count == PingLimits.shownPings && many.sparkline.last == "█")
    }

    @Test("each hop has a line with its name")
    func lines() {
        var path = PathFigures()
        path.follow(hops: 3, relay: "Rita", host: "Dad's Car")
        for (hop, time) in [2, 5, 9].enumerated() { path.add(.milliseconds(time), hop: hop + 1) }
        #expect(
            path.lines(rssi: -61, isLive: false) == [
                "1  Rita       1 of 1 answered  0 % lost  2.0/2.0/2.0 ms  -61 dBm",
                "2  relay 2    1 of 1 answered  0 % lost  5.0/5.0/5.0 ms",
                "3  Dad's Car  1 of 1 answered  0 % lost  9.0/9.0/9.0 ms",
            ])
        #expect(path.isAnswered)
        // The way has become shorter: the further nodes are not on it any more.
        path.follow(hops: 1, relay: nil, host: "Dad's Car")
        #expect(path.lines(rssi: nil, isLive: false).count == 1)
    }

    @Test(
        "a number of bytes has three digits",
        arguments: [
            (0, "0 B"), (999, "999 B"), (1_000, "1.00 kB"), (12_345, "12.3 kB"), (999_499, "999 kB"),
            (999_500, "1.00 MB"), (104_857_600, "105 MB"), (2_500_000_000, "2.50 GB"),
        ] as [(Double, String)])
    func sizes(bytes: Double, text: String) { #expect(PipeMeter.size(bytes) == text) }

    @Test("the progress shows both directions, the rate since the last line, and a gap")
    func progress() {
        var meter = PipeMeter()
        _ = meter.line(PipeProgress(sent: 0, written: 0), isLinked: true, at: .seconds(1))
        let line = meter.line(PipeProgress(sent: 2_000_000, written: 0), isLinked: true, at: .seconds(3))
        #expect(line == "2.00 MB sent  0 B received  1.00 MB/s  0:02")
        let gap = meter.line(
            PipeProgress(sent: 2_000_000, written: 5, connections: 2), isLinked: false, at: .seconds(66))
        #expect(gap == "2.00 MB sent  5 B received  2 open  out of range  1:05")
    }

    @Test(
        "the place of a socket is a port, a host with a port, or a path",
        arguments: [
            ("8080", "127.0.0.1:8080"), ("car.local:22", "car.local:22"), ("[::1]:22", "[::1]:22"),
            ("/run/x.sock", "/run/x.sock"), ("./x.sock", "./x.sock"), ("0", nil), ("70000", nil), ("::1:22", nil),
            (":22", nil), ("car", nil), ("", nil), ("/" + String(repeating: "x", count: 108), nil),
        ] as [(String, String?)])
    func places(typed: String, text: String?) { #expect(SocketPlace(argument: typed)?.text == text) }
}
