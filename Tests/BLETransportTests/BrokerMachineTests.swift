// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import BLETransport
@testable import Bearers
@testable import BrokerBearer

/// Every client can publish at a broker: nothing there may be trusted, and nothing may grow without limit.
@Suite("A node's state machine for a broker")
struct BrokerMachineTests {
    private let service = ServiceType.democracyDJ.uuid
    private let topics = BrokerTopics(prefix: "roadmesh")
    private let car = Peer(id: "f35e5616160a30bf3c6e79fa73c576d4", name: "Dad's Car")
    private let ana = Peer(id: "300c9c9603b92a4b39ed3958bf924011", name: "Ana")

    private func id(_ peer: Peer) throws -> BrokerID { try #require(BrokerID(of: peer)) }

    /// A connected machine.
    private func machine(of peer: Peer, run: [UInt8] = [1, 2, 3, 4]) throws -> BrokerMachine {
        var machine = BrokerMachine(own: try id(peer), topics: topics)
        let subscribed = machine.handle(.connected(run: run), random: 1, now: .zero)
        #expect(subscribed == [.subscribe(topics.inbox(try id(peer)))])
        let echo = topics.value(try id(peer), BrokerID(channel: 2))
        let probe = BrokerMachine.Action.publish(echo, BrokerValue.answer, isRetained: false)
        #expect(machine.handle(.granted(topics.inbox(try id(peer))), random: 2, now: .zero) == [probe])
        #expect(machine.handle(.arrived(topic: echo, BrokerValue.answer), random: 3, now: .zero) == [.ready])
        return machine
    }

    private func presence(of peer: Peer, run: [UInt8]) throws -> (String, [UInt8]) {
        let advertisement = Advertisement(service: service, peer: peer)
        return (topics.presence(service, try id(peer)), BrokerPresence(run: run, advertisement).payload)
    }

    private func answer(to call: BrokerCall) -> BrokerMachine.Action {
        .publish(topics.value(call.caller, call.channel), BrokerValue.answer, isRetained: false)
    }

    /// A guest with a channel to the host: its machine, and the channel.
    private func linked() throws -> (BrokerMachine, BrokerID) {
        var guest = try machine(of: ana)
        _ = guest.handle(.scan(service), random: 3, now: .zero)
        let (topic, payload) = try presence(of: car, run: [9, 9, 9, 9])
        _ = guest.handle(.arrived(topic: topic, payload), random: 4, now: .zero)
        let called = guest.handle(.dial(1, try id(car)), random: 0x0102_0304_0506_0708, now: .zero)
        let channel = BrokerID(channel: 0x0102_0304_0506_0708)
        #expect(
            called == [
                .publish(
                    topics.call(try id(car)), BrokerCall(service, by: try id(ana), channel: channel).payload,
                    isRetained: false)
            ])
        let answered = guest.handle(
            .arrived(topic: topics.value(try id(ana), channel), BrokerValue.answer), random: 5, now: .zero)
        let heard = topics.value(try id(car), channel)
        #expect(
            answered == [
                .publish(heard, BrokerValue.answer, isRetained: false), .opened(1, channel, to: try id(car)),
                .deliver(BrokerValue.answer, in: channel),
            ])
        return (guest, channel)
    }

    @Test("published bytes are the specification's examples")
    func examples() throws {
        let (topic, payload) = try presence(of: car, run: [10, 11, 12, 13])
        #expect(topic == "roadmesh/here/8d62c5f7572b5d3e8633732afc4236cc/f35e5616160a30bf")
        #expect(
            Hex.text(payload) == "0a0b0c0d" + "06" + "2080f35e5616" + Hex.text(Array("Dad's Car\u{1F}ABYKML88".utf8)))
        let call = BrokerCall(
            service, by: try id(ana), channel: BrokerID(channel: 0x0102_0304_0506_0708))
        #expect(topics.call(try id(car)) == "roadmesh/to/f35e5616160a30bf/call")
        #expect(Hex.text(call.payload) == "018d62c5f7572b5d3e8633732afc4236cc300c9c9603b92a4b0102030405060708")
        #expect(BrokerCall(call.payload) == call)
    }

    @Test("a host is found, called and linked; when it connects again, the channel is over")
    func restart() throws {
        var (guest, channel) = try linked()
        let (topic, payload) = try presence(of: car, run: [8, 8, 8, 8])
        let actions = guest.handle(.arrived(topic: topic, payload), random: 6, now: .seconds(1))
        #expect(actions.contains(.end(channel)))
        #expect(guest.channelCount == 0)
    }

    @Test("the same happens if the last will of its earlier connection removes its advertisement")
    func restartAfterWill() throws {
        var (guest, channel) = try linked()
        let (topic, payload) = try presence(of: car, run: [8, 8, 8, 8])
        #expect(guest.handle(.arrived(topic: topic, []), random: 6, now: .seconds(1)) == [.lost(try id(car))])
        let same = try presence(of: car, run: [9, 9, 9, 9]).1
        #expect(!guest.handle(.arrived(topic: topic, same), random: 7, now: .seconds(2)).contains(.end(channel)))
        _ = guest.handle(.arrived(topic: topic, []), random: 8, now: .seconds(3))
        #expect(guest.handle(.arrived(topic: topic, payload), random: 9, now: .seconds(4)).contains(.end(channel)))
    }

    @Test("a host publishes its advertisement every minute, because brokers lose them")
    func published() throws {
        var host = try machine(of: car)
        _ = host.handle(.advertise(Advertisement(service: service, peer: car)), random: 3, now: .zero)
        let actions = host.handle(.tick, random: 4, now: BrokerLimits.published)
        #expect(actions.contains { if case .publish(_, _, isRetained: true) = $0 { true } else { false } })
        #expect(host.handle(.tick, random: 5, now: BrokerLimits.published + .seconds(1)) == [])
    }

    @Test(
        "a new connection is announced at once; in a cluster unretained, because it may have no leader to store it",
        arguments: [false, true])
    func lostServer(isCluster: Bool) throws {
        var host = BrokerMachine(own: try id(car), topics: topics, isCluster: isCluster)
        let inbox = topics.inbox(try id(car))
        let advertisement = Advertisement(service: service, peer: car)
        func told(_ actions: [BrokerMachine.Action]) -> [Bool] {
            actions.compactMap { action in
                guard case .publish(let topic, _, let isRetained) = action, topic.contains("/here/") else { return nil }
                return isRetained
            }
        }
        _ = host.handle(.advertise(advertisement), random: 1, now: .zero)
        _ = host.handle(.connected(run: [1, 1, 1, 1]), random: 2, now: .zero)
        #expect(
            told(host.handle(.granted(inbox), random: 3, now: .zero)) == [true], "a first connection has lost nothing")
        _ = host.handle(.ended, random: 4, now: .seconds(30))
        _ = host.handle(.connected(run: [2, 2, 2, 2]), random: 5, now: .seconds(31))
        #expect(told(host.handle(.granted(inbox), random: 6, now: .seconds(31))) == [!isCluster])
        // The cluster delivers what it stored from the earlier connection.
        let (topic, former) = try presence(of: car, run: [1, 1, 1, 1])
        #expect(told(host.handle(.arrived(topic: topic, former), random: 7, now: .seconds(32))) == [!isCluster])
        #expect(told(host.handle(.tick, random: 8, now: .seconds(42))) == [])
        #expect(told(host.handle(.tick, random: 9, now: .seconds(43))) == (isCluster ? [true] : []))
        #expect(told(host.handle(.tick, random: 10, now: .seconds(44))) == [])
    }

    @Test("when the connection to the broker ends, all channels end and all hosts are lost")
    func ended() throws {
        var (guest, channel) = try linked()
        #expect(guest.handle(.ended, random: 7, now: .seconds(1)) == [.end(channel), .lost(try id(car))])
        #expect(guest.channelCount == 0 && guest.placeCount == 0)
    }

    /// A guest at a cluster that knew the host, and has lost its server.
    private func bereft() throws -> BrokerMachine {
        var guest = BrokerMachine(own: try id(ana), topics: topics, isCluster: true)
        _ = guest.handle(.connected(run: [1]), random: 1, now: .zero)
        _ = guest.handle(.granted(topics.inbox(try id(ana))), random: 2, now: .zero)
        _ = guest.handle(.scan(service), random: 3, now: .zero)
        let (topic, payload) = try presence(of: car, run: [9, 9, 9, 9])
        _ = guest.handle(.arrived(topic: topic, payload), random: 4, now: .zero)
        #expect(guest.handle(.ended, random: 5, now: .seconds(3)) == [.lost(try id(car))])
        _ = guest.handle(.connected(run: [2]), random: 6, now: .seconds(4))
        _ = guest.handle(.granted(topics.inbox(try id(ana))), random: 7, now: .seconds(4))
        return guest
    }

    @Test("after the loss of a server, a guest calls its host again even if the cluster does not deliver its presence")
    func hostThatIsNotToldOf() throws {
        var guest = try bereft()
        #expect(guest.handle(.tick, random: 8, now: .seconds(5)).isEmpty)
        #expect(
            guest.handle(.tick, random: 9, now: .seconds(6)) == [
                .heard(try id(car), Advertisement(service: service, peer: car))
            ])
        let calls = guest.handle(.dial(1, try id(car)), random: 10, now: .seconds(6))
        let call = topics.call(try id(car))
        #expect(calls.contains { if case .publish(call, _, false) = $0 { true } else { false } })
    }

    @Test("a host whose presence a cluster does not deliver is lost if it does not publish again within a minute")
    func hostThatIsGone() throws {
        var guest = try bereft()
        _ = guest.handle(.tick, random: 8, now: .seconds(6))
        #expect(!guest.handle(.tick, random: 9, now: .seconds(67)).contains(.lost(try id(car))))
        #expect(guest.handle(.tick, random: 10, now: .seconds(68)).contains(.lost(try id(car))))
        #expect(guest.placeCount == 0)
    }

    @Test("a presence or removal that a cluster delivers in the meantime counts", arguments: [true, false])
    func hostThatIsToldOf(isThere: Bool) throws {
        var guest = try bereft()
        let (topic, payload) = try presence(of: car, run: [9, 9, 9, 9])
        _ = guest.handle(.arrived(topic: topic, isThere ? payload : []), random: 8, now: .seconds(5))
        _ = guest.handle(.tick, random: 9, now: .seconds(7))
        #expect(guest.placeCount == (isThere ? 1 : 0))
        #expect(!guest.handle(.tick, random: 10, now: .seconds(80)).contains(.lost(try id(car))))
        #expect(guest.placeCount == (isThere ? 1 : 0))
    }

    @Test("an unanswered call is repeated with a new channel, and the old channel is ended")
    func unanswered() throws {
        var guest = try machine(of: ana)
        _ = guest.handle(.scan(service), random: 3, now: .zero)
        let (topic, payload) = try presence(of: car, run: [9, 9, 9, 9])
        _ = guest.handle(.arrived(topic: topic, payload), random: 4, now: .zero)
        _ = guest.handle(.dial(1, try id(car)), random: 10, now: .zero)
        let early = guest.handle(.tick, random: 11, now: BrokerLimits.answer - .milliseconds(1))
        #expect(!early.contains { if case .publish = $0 { true } else { false } })
        let late = guest.handle(.tick, random: 20, now: BrokerLimits.answer)
        let first = BrokerID(channel: 10)
        #expect(
            late.contains(.publish(topics.value(try id(car), first), BrokerValue.end, isRetained: false)))
        #expect(guest.channelCount == 1)
        // The answer to the first call comes late.
        let answer = guest.handle(
            .arrived(topic: topics.value(try id(ana), first), BrokerValue.answer), random: 21, now: .seconds(5))
        #expect(answer == [])
    }

    @Test("an advertisement that a late last will removes is published again, at a bounded rate")
    func restored() throws {
        var host = try machine(of: car)
        let advertisement = Advertisement(service: service, peer: car)
        let topic = topics.presence(service, try id(car))
        let payload = BrokerPresence(run: [1, 2, 3, 4], advertisement).payload
        let published = BrokerMachine.Action.publish(topic, payload, isRetained: true)
        #expect(host.handle(.advertise(advertisement), random: 3, now: .zero) == [.subscribe(topic), published])
        #expect(host.handle(.arrived(topic: topic, payload), random: 4, now: .zero) == [])
        #expect(host.handle(.arrived(topic: topic, []), random: 5, now: .zero) == [published])
        let flood = (0..<1_000).filter { _ in
            host.handle(.arrived(topic: topic, [0]), random: 6, now: .zero) == [published]
        }
        #expect(flood.count < BrokerLimits.restoreBurst + 1)
    }

    @Test("a broker that has forgotten a node's subscriptions is detected and left; a quiet broker is kept")
    func deaf() throws {
        var host = try machine(of: car)
        #expect(host.handle(.tick, random: 3, now: BrokerLimits.quiet - .milliseconds(1)) == [])
        let echo = topics.value(try id(car), BrokerID(channel: 4))
        let probe = BrokerMachine.Action.publish(echo, BrokerValue.answer, isRetained: false)
        #expect(host.handle(.tick, random: 4, now: BrokerLimits.quiet) == [probe])
        #expect(host.handle(.tick, random: 5, now: BrokerLimits.quiet + .seconds(1)) == [])
        #expect(
            host.handle(.arrived(topic: echo, BrokerValue.answer), random: 6, now: BrokerLimits.quiet + .seconds(2))
                == [])
        let later = BrokerLimits.quiet * 2 + .seconds(2)
        #expect(host.handle(.tick, random: 7, now: later).count == 1)
        #expect(host.handle(.tick, random: 8, now: later + BrokerLimits.echo) == [.reconnect(silent: nil)])
    }

    @Test(
        "a broker that grants the subscription and delivers nothing to a node is named, and left",
        arguments: [true, false])
    func deliversNothing(isHost: Bool) throws {
        let peer = isHost ? car : ana
        let inbox = topics.inbox(try id(peer))
        var node = BrokerMachine(own: try id(peer), topics: topics)
        if isHost { _ = node.handle(.advertise(Advertisement(service: service, peer: car)), random: 1, now: .zero) }
        _ = node.handle(.scan(service), random: 2, now: .zero)
        _ = node.handle(.connected(run: [1, 2, 3, 4]), random: 3, now: .zero)
        #expect(!node.handle(.granted(inbox), random: 4, now: .zero).contains(.ready))
        // Advertisements of other nodes do not show that this node's inbox works.
        let (topic, payload) = try presence(of: isHost ? ana : car, run: [9, 9, 9, 9])
        #expect(!node.handle(.arrived(topic: topic, payload), random: 5, now: .seconds(5)).contains(.ready))
        #expect(!node.handle(.tick, random: 6, now: .seconds(9)).contains(.reconnect(silent: inbox)))
        #expect(node.handle(.tick, random: 7, now: BrokerLimits.echo).contains(.reconnect(silent: inbox)))
    }

    /// A host with a working inbox, at a broker that has granted the subscription to the host's advertisement.
    private func watchedHost() throws -> (BrokerMachine, topic: String, payload: [UInt8]) {
        var host = try machine(of: car)
        let (topic, payload) = try presence(of: car, run: [1, 2, 3, 4])
        _ = host.handle(.advertise(Advertisement(service: service, peer: car)), random: 4, now: .zero)
        _ = host.handle(.granted(topic), random: 5, now: .zero)
        return (host, topic, payload)
    }

    @Test("a host is notified once if its advertisement does not come back, and once when it does")
    func advertisementIsSilent() throws {
        var (host, topic, payload) = try watchedHost()
        #expect(host.handle(.tick, random: 6, now: .seconds(9)) == [])
        #expect(host.handle(.tick, random: 7, now: BrokerLimits.echo) == [.silent(topic)])
        #expect(host.handle(.tick, random: 8, now: BrokerLimits.echo + .seconds(1)) == [])
        // The broker's access list was changed. The host publishes this every minute.
        #expect(host.handle(.arrived(topic: topic, payload), random: 9, now: .seconds(61)) == [.ready])
        #expect(host.handle(.arrived(topic: topic, payload), random: 10, now: .seconds(62)) == [])
    }

    @Test("a list that is changed later is noticed with the next advertisement")
    func silentLater() throws {
        var (host, topic, payload) = try watchedHost()
        _ = host.handle(.arrived(topic: topic, payload), random: 6, now: .seconds(1))
        #expect(!host.handle(.tick, random: 7, now: .seconds(30)).contains(.silent(topic)))
        _ = host.handle(.tick, random: 8, now: .seconds(60))
        let echo = topics.value(try id(car), BrokerID(channel: 8))
        _ = host.handle(.arrived(topic: echo, BrokerValue.answer), random: 9, now: .seconds(61))
        #expect(host.handle(.tick, random: 9, now: .seconds(70)).contains(.silent(topic)))
        // A host that does not advertise expects nothing.
        _ = host.handle(.advertise(nil), random: 10, now: .seconds(71))
        #expect(!host.handle(.tick, random: 11, now: .seconds(200)).contains(.silent(topic)))
    }

    @Test("a caller with a false address that reads no answer gets no channel, and its slot becomes free again")
    func falseCaller() throws {
        var host = try machine(of: car)
        _ = host.handle(.advertise(Advertisement(service: service, peer: car)), random: 3, now: .zero)
        let channel = BrokerID(channel: 7)
        let call = BrokerCall(service, by: try id(ana), channel: channel)
        let topic = topics.call(try id(car))
        let answer = BrokerMachine.Action.publish(
            topics.value(try id(ana), channel), BrokerValue.answer, isRetained: false)
        #expect(host.handle(.arrived(topic: topic, call.payload), random: 4, now: .zero) == [answer])
        #expect(host.handle(.tick, random: 5, now: BrokerLimits.answer) == [])
        #expect(host.channelCount == 0)
        _ = host.handle(.arrived(topic: topic, call.payload), random: 6, now: .seconds(9))
        let value = topics.value(try id(car), channel)
        let opened = host.handle(.arrived(topic: value, BrokerValue.answer), random: 7, now: .seconds(9))
        #expect(opened == [.accept(channel, from: try id(ana)), .deliver(BrokerValue.answer, in: channel)])
        #expect(host.handle(.arrived(topic: value, [0xC0, 0, 1, 9]), random: 8, now: .seconds(9)).count == 1)
    }

    @Test("twenty thousand calls and as many false advertisements use no more than the limits")
    func floods() throws {
        var host = try machine(of: car)
        _ = host.handle(.advertise(Advertisement(service: service, peer: car)), random: 3, now: .zero)
        _ = host.handle(.scan(service), random: 3, now: .zero)
        var accepted = 0
        for number in 0..<20_000 {
            let now = MeshInstant.milliseconds(number)
            let caller = BrokerID(channel: UInt64(number % 1_000))
            let call = BrokerCall(service, by: caller, channel: BrokerID(channel: UInt64(number)))
            let actions = host.handle(
                .arrived(topic: topics.call(try id(car)), call.payload), random: UInt64(number), now: now)
            if actions.contains(where: { $0 == answer(to: call) }) {
                let value = topics.value(try id(car), call.channel)
                let opened = host.handle(.arrived(topic: value, BrokerValue.answer), random: UInt64(number), now: now)
                accepted += opened.count { if case .accept = $0 { true } else { false } }
            }
            let liar = Peer(id: Hex.text((0..<16).map { UInt8(truncatingIfNeeded: number >> ($0 % 4 * 8)) }), name: "x")
            let (topic, payload) = try presence(of: liar, run: [0, 0, 0, 0])
            _ = host.handle(.arrived(topic: topic, payload), random: UInt64(number), now: now)
        }
        #expect(accepted == BrokerLimits.accepted)
        #expect(host.channelCount == BrokerLimits.accepted)
        #expect(host.placeCount == BrokerLimits.places)
    }

    @Test("channels from one address are limited, and a repeated call opens one channel")
    func oneCaller() throws {
        var host = try machine(of: car)
        _ = host.handle(.advertise(Advertisement(service: service, peer: car)), random: 3, now: .zero)
        for number in [0, 0] + Array(1..<100) {
            let call = BrokerCall(service, by: try id(ana), channel: BrokerID(channel: UInt64(number)))
            let now = MeshInstant.milliseconds(number * 20)
            _ = host.handle(.arrived(topic: topics.call(try id(car)), call.payload), random: 9, now: now)
            let value = topics.value(try id(car), call.channel)
            _ = host.handle(.arrived(topic: value, BrokerValue.answer), random: 9, now: now)
        }
        #expect(host.channelCount == BrokerLimits.acceptedOfAddress)
    }

    @Test("calls in a guest's name, 120 a second, do not keep that guest out", arguments: 0..<4)
    func callsInAName(phase: Int) throws {
        var host = try machine(of: car)
        _ = host.handle(.advertise(Advertisement(service: service, peer: car)), random: 3, now: .zero)
        let topic = topics.call(try id(car))
        var (answered, tries) = (0, 0)
        for number in 0..<(60 * 120) {
            let now = MeshInstant.microseconds(number * 8_333)
            let pretended = BrokerCall(service, by: try id(ana), channel: BrokerID(channel: UInt64(1_000 + number)))
            _ = host.handle(.arrived(topic: topic, pretended.payload), random: 9, now: now)
            if number % 120 == 0 { _ = host.handle(.tick, random: 9, now: now) }
            // The guest calls every four seconds, at varying points within a second.
            guard number == tries * 480 + (tries * 37 + phase * 31) % 120 else { continue }
            tries += 1
            let call = BrokerCall(service, by: try id(ana), channel: BrokerID(channel: UInt64(number)))
            let told = host.handle(.arrived(topic: topic, call.payload), random: 9, now: now + .milliseconds(tries % 8))
            guard told == [answer(to: call)] else { continue }
            answered += 1
            // The value takes as long as it does over two mobile networks.
            let value = topics.value(try id(car), call.channel)
            let opened = host.handle(
                .arrived(topic: value, BrokerValue.answer), random: 9, now: now + .milliseconds(900))
            #expect(opened.first == .accept(call.channel, from: try id(ana)))
            _ = host.handle(.closed(call.channel), random: 9, now: now + .seconds(1))
        }
        #expect(tries == 15 && answered >= 5, "\(answered) of \(tries)")
        // The rate limit bounds the state of false calls.
        let most = BrokerLimits.callsPerSecond * 5 + BrokerLimits.callBurst
        #expect(host.channelCount <= most, "\(host.channelCount)")
    }

    @Test("an advertisement under another node's address is ignored, and so is an invalid one")
    func falsePlace() throws {
        var guest = try machine(of: ana)
        _ = guest.handle(.scan(service), random: 3, now: .zero)
        let (topic, payload) = try presence(of: car, run: [9, 9, 9, 9])
        let other = topics.presence(service, BrokerID(channel: 1))
        #expect(guest.handle(.arrived(topic: other, payload), random: 4, now: .zero) == [])
        for length in 0..<payload.count where length != payload.count - 8 {
            _ = guest.handle(.arrived(topic: topic, Array(payload.prefix(length))), random: 5, now: .zero)
            #expect(guest.placeCount == 0, "\(length) bytes of it")
        }
        #expect(guest.handle(.arrived(topic: topic, payload), random: 6, now: .zero).count == 1)
    }

    @Test("invalid bytes in any topic have no effect", arguments: 0..<20)
    func rubbish(seed: UInt64) throws {
        var host = try machine(of: car)
        _ = host.handle(.advertise(Advertisement(service: service, peer: car)), random: 3, now: .zero)
        var random = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
        func next() -> UInt64 {
            random ^= random << 13
            random ^= random >> 7
            random ^= random << 17
            return random
        }
        let heads = ["roadmesh/here/", "roadmesh/to/", "roadmesh/", "", "other/here/"]
        let parts = ["f35e5616160a30bf", "call", "8d62c5f7572b5d3e8633732afc4236cc", "+", "", "F35E5616160A30BF", "#"]
        for _ in 0..<2_000 {
            let topic = heads[Int(next() % 5)] + parts[Int(next() % 7)] + "/" + parts[Int(next() % 7)]
            let payload = (0..<Int(next() % 80)).map { _ in UInt8(truncatingIfNeeded: next()) }
            let actions = host.handle(.arrived(topic: topic, payload), random: next(), now: .zero)
            #expect(!actions.contains { if case .heard = $0 { true } else { false } })
        }
        #expect(host.placeCount == 0)
    }
}

@Suite("The address of a broker")
struct BrokerAddressTests {
    @Test("valid addresses are read, and an error of an invalid one is named")
    func reads() throws {
        let whole = try BrokerAddress("mqtts://ana%40home:se%3Acret@broker.example.org:8884/fleet/7")
        #expect(whole.servers == [.init(host: "broker.example.org", port: 8884)] && whole.isSecure)
        #expect(whole.user == "ana@home" && whole.password == "se:cret" && whole.prefix == "fleet/7")
        #expect(whole.text == "mqtts://broker.example.org:8884", "a secret is never shown")
        let plain = try BrokerAddress("MQTT://[::1]")
        #expect(plain.servers == [.init(host: "::1", port: 1883)] && !plain.isSecure && plain.prefix == "roadmesh")
        #expect(plain.isLocal && !whole.isLocal)
        for wrong in [
            "", "broker.example.org", "http://x", "mqtts://", "mqtts://@x", "mqtts://x:0", "mqtts://x:70000",
            "mqtts://x:y", "mqtts://x/a//b", "mqtts://x/a/+", "mqtts://x/#", "mqtts://x/$SYS", "mqtts://a b",
            "mqtts://x/" + String(repeating: "p", count: 65), "mqtts://%zz@x", "mqtts://a,", "mqtts://a,,b",
            "mqtts://" + Array(repeating: "a", count: 9).joined(separator: ","),
        ] {
            #expect(throws: BrokerAddress.Fault.self, "\(wrong)") { try BrokerAddress(wrong) }
        }
    }

    @Test("a broker has several servers, each with its own port or the standard one")
    func servers() throws {
        let cluster = try BrokerAddress("mqtt://ana@127.0.0.1:1884,[::1],localhost:1885/fleet")
        #expect(cluster.servers.map(\.host) == ["127.0.0.1", "::1", "localhost"])
        #expect(cluster.servers.map(\.port) == [1884, 1883, 1885])
        #expect(cluster.user == "ana" && cluster.prefix == "fleet" && cluster.isLocal)
        #expect(cluster.text == "mqtt://127.0.0.1:1884,[::1]:1883,localhost:1885")
        #expect(try !BrokerAddress("mqtt://localhost,example.org").isLocal, "a password would leave the device")
    }
}

@Suite("Reconnecting to a broker")
struct BrokerPolicyTests {
    private let lost = BrokerFault(.unreachable, "no answer")

    @Test("a short outage is not reported, a long one is reported once, and a connection clears the report")
    func patience() {
        var account = BrokerPolicy(now: .zero)
        #expect(account.connected(now: .seconds(1)) == [.connected])
        #expect(account.ended(lost, now: .seconds(30)) == [])
        #expect(account.tick(BrokerTraffic(), now: .seconds(39)) == [])
        #expect(account.tick(BrokerTraffic(), now: .seconds(40)) == [.unreachable("no answer")])
        #expect(account.ended(lost, now: .seconds(42)) == [])
        #expect(account.connected(now: .seconds(43)) == [.connected])
    }

    @Test("an error that a person must fix is reported at once")
    func refused() {
        var account = BrokerPolicy(now: .zero)
        #expect(account.ended(BrokerFault(.refused, "not authorised"), now: .zero) == [.refused("not authorised")])
        #expect(account.ended(BrokerFault(.untrusted, "expired"), now: .seconds(1)) == [.untrusted("expired")])
    }

    @Test("a refused subscription, as in a cluster without a leader, is reported if it lasts")
    func passing() {
        var account = BrokerPolicy(now: .zero)
        _ = account.connected(now: .zero)
        let fault = BrokerFault(.refused, "it does not let this device read", isPassing: true)
        #expect(account.ended(fault, now: .seconds(1)) == [])
        #expect(account.ended(fault, now: .seconds(11)) == [.refused("it does not let this device read")])
    }

    @Test("pauses grow up to fifteen seconds, and are short again after a connection that has worked")
    func pauses() throws {
        var account = BrokerPolicy(now: .zero)
        let pauses = (0..<20).map { number in
            _ = account.ended(lost, now: .seconds(number))
            return account.pause(jitter: 1)
        }
        #expect(pauses.first == BrokerLimits.firstPause && pauses.last == BrokerLimits.longestPause)
        #expect(pauses == pauses.sorted())
        #expect(account.pause(jitter: 0) == .zero)
        _ = account.connected(now: .seconds(30))
        _ = account.ended(lost, now: .seconds(50))
        #expect(account.pause(jitter: 1) == BrokerLimits.firstPause)
    }

    private func options(servers: Int) throws -> MQTTConnection.Options {
        let hosts = (0..<servers).map { "s\($0)" }.joined(separator: ",")
        return MQTTConnection.Options(broker: try BrokerAddress("mqtt://\(hosts)"), files: BrokerFiles(), client: "c")
    }

    @Test("a broker's servers are tried in turn from any of them, and pauses grow after all have been tried")
    func turns() throws {
        let three = try options(servers: 3)
        var account = BrokerPolicy(now: .zero)
        var tried: [Int] = []
        var pauses: [Double] = []
        for number in 0..<6 {
            tried.append(account.begin(three, chance: 7, now: .seconds(number)).server)
            _ = account.ended(lost, now: .seconds(number))
            pauses.append((account.pause(jitter: 1) / .milliseconds(1)).rounded())
        }
        #expect(tried == [1, 2, 0, 1, 2, 0])
        #expect(pauses == [167, 167, 167, 333, 333, 333], "milliseconds")
    }

    @Test(
        "after a connection, each server gets little more than that one's time, for a while; a single one gets all",
        arguments: [1, 3])
    func patience(of servers: Int) throws {
        let options = try options(servers: servers)
        var account = BrokerPolicy(now: .zero)
        func patience(at second: Double) -> Duration {
            account.begin(options, chance: 0, now: .seconds(second)).patience
        }
        #expect(patience(at: 0) == BrokerLimits.connect, "the network may be slow")
        _ = account.connected(now: .seconds(1))
        _ = account.ended(lost, now: .seconds(60))
        #expect(patience(at: 60) == (servers > 1 ? .seconds(4) : BrokerLimits.connect))
        _ = account.connected(now: .seconds(60.1))
        _ = account.ended(lost, now: .seconds(90))
        #expect(patience(at: 90) == (servers > 1 ? BrokerLimits.leastPatience : BrokerLimits.connect))
        _ = account.ended(lost, now: .seconds(95))
        #expect(patience(at: 111) == BrokerLimits.connect, "the network may be a slower one by now")
    }

    @Test("the traffic of an hour covers all its connections, and then starts again from zero")
    func bill() {
        var account = BrokerPolicy(now: .zero)
        var traffic = BrokerTraffic()
        (traffic.sent, traffic.received) = (700, 300)
        account.carried(traffic)
        (traffic.sent, traffic.received) = (10, 20)
        #expect(
            account.tick(traffic, now: .seconds(60)) == [.carried(sent: 710, received: 320, isHour: false)])
        #expect(account.tick(traffic, now: .seconds(61)) == [])
        #expect(
            account.tick(traffic, now: .seconds(3_600)) == [.carried(sent: 710, received: 320, isHour: true)])
        #expect(
            account.tick(traffic, now: .seconds(3_660)) == [.carried(sent: 0, received: 0, isHour: false)])
    }
}
