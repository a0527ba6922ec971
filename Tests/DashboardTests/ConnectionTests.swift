// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import Dashboard

@Suite("A browser's connection")
struct ConnectionTests {
    private typealias Step = (at: Int, event: ConnectionWatch.Event, action: ConnectionWatch.Action?)

    /// Plays a table, and returns the second at which the connection would be closed without further events.
    private func play(_ steps: [Step]) -> Int? {
        var watch = ConnectionWatch(now: .zero)
        for step in steps {
            #expect(watch.handle(step.event, now: .seconds(step.at)) == step.action, "\(step)")
        }
        return watch.deadline.map { Int($0 / .seconds(1)) }
    }

    @Test("a connection without a complete request is closed, and one that sends requests stays open for some time")
    func silence() {
        #expect(play([]) == 10)
        #expect(play([(3, .requestBegan, nil)]) == 13)
        // Slow bytes do not extend the time.
        #expect(play([(3, .requestBegan, nil), (12, .bodyArrived(bytes: 1), nil)]) == 13)
        #expect(play([(3, .requestBegan, nil), (4, .requestEnded, .busy)]) == 34)
        let asked: [Step] = [
            (3, .requestBegan, nil), (3, .requestEnded, .busy), (4, .answerBegan(isStream: false), nil),
            (4, .writeBegan, nil), (4, .writeEnded, nil), (4, .answerEnded, .idle),
        ]
        #expect(play(asked) == 64)
        #expect(play(asked + [(60, .requestBegan, nil)]) == 70)
        #expect(play([(9, .tick, nil), (10, .tick, .close)]) == 10)
    }

    @Test("a connection with a stream stays open, until its client reads nothing for ten seconds")
    func streams() {
        let stream: [Step] = [
            (1, .requestBegan, nil), (1, .requestEnded, .busy), (2, .answerBegan(isStream: true), nil),
            (2, .writeBegan, nil), (2, .writeEnded, nil),
        ]
        #expect(play(stream) == nil)
        #expect(play(stream + [(1_000, .writeBegan, nil)]) == 1_010)
        // The client has read one of two: it reads, but slowly.
        #expect(play(stream + [(20, .writeBegan, nil), (25, .writeBegan, nil), (28, .writeEnded, nil)]) == 38)
        #expect(play(stream + [(20, .inputClosed, .close)]) == nil)
        #expect(play([(1, .requestBegan, nil), (1, .requestEnded, .busy), (2, .inputClosed, nil)]) == 31)
    }

    @Test("a connection that was answered after the head of a request is free again after the request")
    func refusedByHead() {
        let refused: [Step] = [
            (0, .requestBegan, nil), (1, .answerBegan(isStream: false), nil), (1, .answerEnded, nil),
        ]
        #expect(play(refused) == 10)
        #expect(play(refused + [(2, .bodyArrived(bytes: 60_000), nil), (3, .requestEnded, .idle)]) == 63)
        #expect(play(refused + [(2, .bodyArrived(bytes: 70_000), .close)]) == 10)
    }

    @Test("the connection that was idle for longest is closed for a new one, and never a busy one")
    func room() {
        var table = ConnectionTable(limit: 4, limitPerAddress: 2, kept: 0)
        #expect(table.opened(from: "a") == .admit(1, closing: nil))
        #expect(table.opened(from: "a") == .admit(2, closing: nil))
        #expect(table.opened(from: "a") == .admit(3, closing: 1))
        table.changed(2, isBusy: true)
        #expect(table.opened(from: "a") == .admit(4, closing: 3))
        table.changed(4, isBusy: true)
        #expect(table.opened(from: "a") == .refuse)
        // The connection that has just received its answer is closed last.
        #expect(table.opened(from: "b") == .admit(5, closing: nil))
        #expect(table.opened(from: "c") == .admit(6, closing: nil))
        table.changed(5, isBusy: true)
        table.changed(5, isBusy: false)
        #expect(table.opened(from: "d") == .admit(7, closing: 6))
        #expect(table.count == 4)
        for id in 1...7 { table.closed(id) }
        #expect(table.count == 0)
    }

    @Test("the driver has a connection even if passengers use all that they can, and there are few")
    func driversPlace() {
        var table = ConnectionTable(limit: 16)
        for id in 1...12 {
            #expect(table.opened(from: "10.0.0.\(id)") == .admit(id, closing: nil))
            table.changed(id, isBusy: true)
        }
        #expect(table.opened(from: "10.0.0.99") == .refuse)
        for id in 13...16 {
            #expect(table.opened(from: id == 13 ? "::1" : "127.0.0.1") == .admit(id, closing: nil))
            table.changed(id, isBusy: true)
        }
        #expect(table.opened(from: "127.0.0.1") == .refuse)
        // A passenger's idle connection makes room for the next one. The driver's connection stays.
        table.changed(13, isBusy: false)
        table.changed(5, isBusy: false)
        table.closed(14)
        #expect(table.opened(from: "10.0.0.99") == .admit(17, closing: 5))
    }

    @Test("the driver's tablet gets a connection among guests that use all they can, even behind one router")
    func driversTablet() {
        var table = ConnectionTable(limit: 40, limitPerAddress: 16, kept: 4)
        func asks(from address: String, asDriver: Bool) -> Bool {
            guard case .admit(let id, _) = table.opened(from: address) else { return false }
            table.changed(id, isBusy: true)
            let isServed = table.serves(id, asDriver: asDriver)
            if !isServed { table.changed(id, isBusy: false) }
            return isServed
        }
        // Three phones, then a router with many phones behind it.
        let served = (1...60).count { asks(from: $0 <= 24 ? "10.0.0.\($0 % 3)" : "router", asDriver: false) }
        #expect(served == 32, "the limit, less what is kept for this device and for the driver's others")
        for place in 1...4 {
            let isServed = asks(from: "router", asDriver: true)
            #expect(isServed, "the driver's connection \(place)")
        }
    }

    @Test("a guest's connection is closed before a driver's, and is served again after its answer")
    func guestsGoFirst() {
        var table = ConnectionTable(limit: 2, limitPerAddress: 2, kept: 0)
        for id in 1...2 { #expect(table.opened(from: "a") == .admit(id, closing: nil)) }
        let driver = table.serves(1, asDriver: true), guest = table.serves(2, asDriver: false)
        #expect(driver && guest)
        #expect(table.opened(from: "a") == .admit(3, closing: 2))
        let gone = table.serves(2, asDriver: false)
        #expect(!gone)
        var small = ConnectionTable(limit: 8, limitPerAddress: 8, kept: 2)
        for id in 1...6 { #expect(small.opened(from: "a") == .admit(id, closing: nil)) }
        let served = (1...5).map { small.serves($0, asDriver: false) }
        #expect(served == [true, true, true, true, false])
        small.changed(1, isBusy: false)
        let later = (5...6).map { small.serves($0, asDriver: false) }
        #expect(later == [true, false])
    }

    @Test("a stream of views sends the newest view once, a ping when idle, and a last view")
    func views() throws {
        var streams = ViewStreams()
        let opened = streams.open(.node, from: "a", now: .zero)
        let id = try #require(opened).id
        #expect(streams.next(id, version: 3, isLast: false, now: .zero) == .view)
        #expect(streams.next(id, version: 3, isLast: false, now: .seconds(4)) == .wait)
        #expect(streams.next(id, version: 9, isLast: false, now: .seconds(4)) == .view)
        #expect(streams.next(id, version: 9, isLast: false, now: .seconds(8)) == .wait)
        #expect(streams.next(id, version: 9, isLast: false, now: .seconds(9)) == .ping)
        #expect(streams.next(id, version: 9, isLast: false, now: .seconds(10)) == .wait)
        #expect(streams.next(id, version: 10, isLast: true, now: .seconds(10)) == .lastView)
        let wasOpen = streams.close(id), isOpen = streams.close(id)
        #expect(wasOpen && !isOpen)
    }

    @Test("the number of streams of one address or one guest is limited")
    func streamLimits() throws {
        var streams = ViewStreams()
        let opened = streams.open(.webGuest("g"), from: "b", now: .zero)
        let first = try #require(opened)
        for _ in 1..<DashboardLimits.streamsPerGuest {
            #expect(streams.open(.webGuest("g"), from: "b", now: .zero)?.ends == nil)
        }
        #expect(streams.open(.webGuest("g"), from: "b", now: .zero)?.ends == first.id)
        #expect(streams.all(of: .webGuest("g")).count == DashboardLimits.streamsPerGuest)
        var guests = 0
        while streams.open(.webGuest("a\(guests)"), from: "a", now: .zero) != nil { guests += 1 }
        #expect(guests == DashboardLimits.streamsPerAddress)
        while streams.open(.webGuest("c\(guests)"), from: "c\(guests)", now: .zero) != nil { guests += 1 }
        #expect(streams.count == DashboardLimits.guestStreams)
    }

    @Test("the driver's streams get a slot whatever the guests have open, even behind the same router")
    func driversPlaces() {
        var streams = ViewStreams()
        for guest in 0..<DashboardLimits.webGuests {
            for _ in 0..<DashboardLimits.streamsPerGuest {
                _ = streams.open(.webGuest("g\(guest)"), from: guest < 20 ? "router" : "a\(guest)", now: .zero)
            }
        }
        #expect(streams.open(.node, from: "router", now: .zero) != nil)
        var pages = 1
        while streams.open(.node, from: "b", now: .zero) != nil { pages += 1 }
        #expect(pages == 1 + DashboardLimits.driverStreamsPerAddress, "one address leaves places to the others")
        #expect(streams.open(.node, from: "router", now: .zero) != nil)
        while streams.open(.node, from: "c\(streams.count)", now: .zero) != nil {}
        #expect(streams.all(of: .node).count == DashboardLimits.driverStreams)
    }
}
