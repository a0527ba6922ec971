// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import BLETransport
@testable import Bearers

@Suite("Bonding of two boxes")
struct PairingTests {
    static let van = PairingDevice(id: "van", name: "the van", token: "b00000")
    static let truck = PairingDevice(id: "truck", name: "the truck", token: "c00000")
    static let hello = PairingMessage.hello(name: "the van", hasBond: false)

    /// A box during pairing, and the actions of its last event.
    struct Box {
        var pairing: Pairing
        var now: MeshInstant = .zero
        var actions: [Pairing.Action] = []

        init(token: String = "a00000", wanted: String? = nil) {
            pairing = Pairing(name: "the car", token: token, wanted: wanted, now: .zero)
        }

        mutating func happens(_ event: Pairing.Event, after time: Duration = .zero) {
            now += time
            actions = pairing.handle(event, now: now)
        }

        /// Lets time pass until the next deadline.
        mutating func waits() {
            now = pairing.deadline ?? now
            actions = pairing.handle(.tick, now: now)
        }

        /// Runs up to the channel, as the dialling side.
        mutating func dials(_ box: PairingDevice = van) {
            happens(.heard(box))
            waits()
            happens(.dialled)
        }

        /// Runs up to the digits.
        mutating func asks(_ box: PairingDevice = van) {
            dials(box)
            happens(.received(.hello(name: box.name, hasBond: false)))
            happens(.asked(digits: "012345"))
        }

        var outcome: PairingOutcome? {
            if case .finish(let outcome) = actions.last { outcome } else { nil }
        }
    }

    // MARK: Finding each other

    @Test("of two boxes the one with the lower token dials, after it has listened for others")
    func whoDials() {
        var lower = Box()
        lower.happens(.heard(Self.van))
        #expect(lower.actions == [.tell(.heard(Self.van))])
        #expect(lower.pairing.deadline == RadioLimits.pairingGather)
        lower.waits()
        #expect(lower.actions == [.stopLooking, .dial(Self.van)])
        lower.happens(.dialled)
        #expect(lower.actions == [.send(.hello(name: "the car", hasBond: false))])
        lower.happens(.received(Self.hello))
        #expect(lower.actions == [.pair])

        var higher = Box(token: "d00000")
        higher.happens(.heard(Self.van))
        higher.happens(.called(PairingDevice(id: "van", name: "")), after: .milliseconds(1_200))
        #expect(higher.actions == [.takeCall, .stopLooking, .send(.hello(name: "the car", hasBond: false))])
        higher.happens(.received(Self.hello))
        #expect(higher.actions == [])
    }

    @Test("a box that is found but does not dial is dialled")
    func patience() {
        var higher = Box(token: "d00000")
        higher.happens(.heard(Self.van))
        #expect(higher.pairing.deadline == RadioLimits.pairingGather + RadioLimits.pairingPatience)
        higher.waits()
        #expect(higher.actions == [.stopLooking, .dial(Self.van)])
    }

    @Test("if no other box wants to bond, the person is notified after two minutes")
    func nobody() {
        var alone = Box(wanted: "the bus")
        alone.happens(.heard(Self.van))
        #expect(alone.pairing.deadline == RadioLimits.pairingSearch)
        alone.waits()
        #expect(alone.actions == [.stopLooking, .hangUp, .finish(.nobody(wanted: "the bus"))])
        #expect(alone.pairing.deadline == nil)
        alone.happens(.called(Self.van))
        #expect(alone.actions == [.refuseCall])
    }

    @Test("if several boxes want to bond, a person chooses, whether they were found or have called")
    func several() {
        var box = Box()
        box.happens(.heard(Self.van))
        box.happens(.heard(Self.truck))
        box.waits()
        #expect(box.outcome == .several([Self.truck, Self.van]))

        var called = Box(token: "d00000")
        called.happens(.heard(Self.truck))
        called.happens(.called(Self.van))
        called.happens(.received(Self.hello))
        #expect(called.actions == [.send(.no(.several))])
        called.happens(.linkEnded)
        #expect(called.outcome == .several([Self.truck, Self.van]))
    }

    @Test("a named box is dialled at once, whatever other boxes are in range", arguments: ["the van", "VAN"])
    func named(wanted: String) {
        var box = Box(wanted: wanted)
        box.happens(.heard(Self.truck))
        box.happens(.heard(Self.van))
        #expect(box.pairing.deadline == .zero)
        box.waits()
        #expect(box.actions == [.stopLooking, .dial(Self.van)])
    }

    @Test("a box other than the named one is notified, and the search continues without it")
    func notMeant() {
        var box = Box(token: "d00000", wanted: "the truck")
        box.happens(.called(PairingDevice(id: "van", name: "")))
        box.happens(.received(Self.hello))
        #expect(box.actions == [.send(.no(.notMeant))])
        box.happens(.linkEnded)
        #expect(box.actions == [.hangUp, .look])
        box.happens(.called(PairingDevice(id: "van", name: "")))
        #expect(box.actions == [.refuseCall])
        box.happens(.called(Self.truck))
        #expect(box.actions.first == .takeCall)
    }

    @Test("a box that is not the named one continues its search")
    func isNotMeant() {
        var box = Box()
        box.dials()
        box.happens(.received(.no(.notMeant)))
        #expect(box.actions == [.hangUp, .look])
        box.happens(.heard(Self.van))
        #expect(box.actions == [])
        #expect(box.pairing.deadline == box.now + RadioLimits.pairingSearch)
    }

    @Test("links that break early are tried again, but not forever")
    func meetings() {
        var box = Box()
        for _ in 1..<RadioLimits.pairingMeetings {
            box.happens(.heard(Self.van))
            box.waits()
            box.happens(.dialFailed)
            #expect(box.actions == [.hangUp, .look])
        }
        box.happens(.heard(Self.van))
        box.waits()
        box.happens(.dialFailed)
        guard case .failed = box.outcome else {
            Issue.record("it goes on: \(box.actions)")
            return
        }
    }

    // MARK: Old bonds

    @Test("two boxes that are already bonded report that, and nothing changes")
    func already() {
        var bonded = Self.van
        bonded.hasBond = true
        var box = Box()
        box.dials(bonded)
        #expect(box.actions == [.send(.hello(name: "the car", hasBond: true))])
        box.happens(.received(.hello(name: "the van", hasBond: true)))
        #expect(box.actions == [.send(.verified)])
        box.happens(.received(.verified))
        box.happens(.linkEnded)
        #expect(box.actions == [.stopLooking, .hangUp, .finish(.alreadyBonded(bonded))])
    }

    @Test("a bond that only one side has is deleted, and the boxes pair again")
    func half() {
        var bonded = Self.van
        bonded.hasBond = true
        var has = Box()
        has.dials(bonded)
        has.happens(.received(Self.hello))
        #expect(has.actions == [.forget(bonded), .tell(.forgotten(bonded)), .hangUp, .look])
        var lacks = Box()
        lacks.dials()
        lacks.happens(.received(.hello(name: "the van", hasBond: true)))
        #expect(lacks.actions == [.hangUp, .look])
    }

    @Test("a bond with which the link breaks twice is treated as one-sided")
    func deadBond() {
        var bonded = Self.van
        bonded.hasBond = true
        var box = Box()
        box.dials(bonded)
        box.happens(.linkEnded)
        #expect(box.actions == [.hangUp, .look])
        box.happens(.heard(bonded))
        box.waits()
        box.happens(.dialFailed)
        #expect(box.actions == [.forget(bonded), .tell(.forgotten(bonded)), .hangUp, .look])
    }

    // MARK: The digits

    @Test("two yeses and a good key on both sides make a bond")
    func bonded() {
        var box = Box()
        box.asks()
        #expect(box.actions == [.tell(.digits("012345", Self.van, within: RadioLimits.pairingAnswer))])
        box.happens(.answered(true))
        #expect(box.actions == [.answer(true), .tell(.waiting(for: Self.van))])
        box.happens(.paired(nil))
        #expect(box.actions == [.send(.verified)])
        box.happens(.received(.verified))
        #expect(box.actions == [])
        box.happens(.linkEnded)
        #expect(box.actions == [.stopLooking, .hangUp, .keep(Self.van), .finish(.bonded(Self.van))])
    }

    @Test("either side may answer first")
    func quicker() {
        var box = Box()
        box.asks()
        box.happens(.answered(true))
        box.happens(.received(.verified))
        #expect(box.actions == [])
        box.happens(.paired(nil))
        #expect(box.actions == [.send(.verified)])
        box.waits()
        #expect(box.outcome == .bonded(Self.van))
    }

    @Test("a no reaches the other side before Bluetooth is refused, and leaves no bond")
    func refused() {
        var box = Box()
        box.asks()
        box.happens(.answered(false))
        #expect(box.actions == [.send(.no(.refused)), .answer(false)])
        // Bluetooth's own report of that is ignored.
        box.happens(.pairingFailed(cause: "Authentication Rejected"))
        box.happens(.withdrawn)
        #expect(box.actions == [])
        box.waits()
        #expect(box.actions == [.stopLooking, .hangUp, .forget(Self.van), .finish(.refusedHere(Self.van))])
    }

    @Test("a person who does not answer is notified, and so is the other side")
    func unanswered() {
        var box = Box()
        box.asks()
        #expect(box.pairing.deadline == box.now + RadioLimits.pairingAnswer)
        box.waits()
        #expect(box.actions == [.send(.no(.unanswered)), .answer(false)])
        box.happens(.linkEnded)
        #expect(box.outcome == .unansweredHere(Self.van))
    }

    @Test(
        "the person sees the other side's reason, even if Bluetooth reports its failure first",
        arguments: [
            (.refused, .refusedThere(van)), (.unanswered, .unansweredThere(van)), (.weak, .weakThere(van)),
            (.left, .leftThere(van)),
        ] as [(PairingMessage.Reason, PairingOutcome)])
    func reasons(reason: PairingMessage.Reason, outcome: PairingOutcome) {
        for isFailureFirst in [false, true] {
            var box = Box()
            box.asks()
            box.happens(.answered(true))
            if isFailureFirst {
                box.happens(.pairingFailed(cause: "Authentication Failed"))
                #expect(box.actions == [])
                #expect(box.pairing.deadline == box.now + RadioLimits.pairingLastWord)
            }
            box.happens(.received(.no(reason)))
            #expect(box.actions == [.stopLooking, .hangUp, .forget(Self.van), .finish(outcome)])
        }
        var asking = Box()
        asking.asks()
        asking.happens(.received(.no(reason)))
        #expect(asking.actions.first == .answer(false))
        #expect(asking.outcome == outcome)
    }

    @Test("a failure without a reason is reported with Bluetooth's words")
    func failed() {
        var box = Box()
        box.asks()
        box.happens(.pairingFailed(cause: "Authentication Failed"))
        box.waits()
        #expect(box.outcome == .failed(Self.van, cause: "Authentication Failed"))
        #expect(box.actions.contains(.forget(Self.van)))
    }

    @Test("a second question is refused, and an answer without a question is reported")
    func strays() {
        var box = Box()
        box.asks()
        box.happens(.answered(true))
        box.happens(.asked(digits: "999999"))
        #expect(box.actions == [.answer(false)])
        box.happens(.answered(true))
        #expect(box.actions == [.tell(.nothingAsked)])
    }

    // MARK: Invalid bonds

    @Test(
        "a key that an attacker could have is not a bond",
        arguments: [PairingWeakness.shortKey(bytes: 7), .notSecureConnections])
    func weak(weakness: PairingWeakness) {
        var box = Box()
        box.asks()
        box.happens(.answered(true))
        box.happens(.paired(weakness))
        #expect(box.actions == [.send(.no(.weak))])
        // The other side's confirmation does not change that.
        box.happens(.received(.verified))
        box.happens(.linkEnded)
        #expect(
            box.actions == [.stopLooking, .hangUp, .forget(Self.van), .finish(.weakHere(Self.van, weakness))])
    }

    @Test("a bond that no person here was asked about is refused")
    func unasked() {
        var box = Box()
        box.dials()
        box.happens(.received(Self.hello))
        box.happens(.paired(nil))
        #expect(box.actions == [.send(.no(.weak))])
        box.waits()
        #expect(box.outcome == .weakHere(Self.van, .unasked))
        #expect(box.actions.contains(.forget(Self.van)))
    }

    @Test("a bond that the other side has not confirmed is refused")
    func unvouched() {
        var box = Box()
        box.asks()
        box.happens(.answered(true))
        box.happens(.paired(nil))
        var lost = box
        lost.happens(.linkEnded)
        #expect(lost.actions == [.stopLooking, .hangUp, .forget(Self.van), .finish(.lost(Self.van))])
        box.waits()
        #expect(box.outcome == .lost(Self.van))
    }

    // MARK: Ends

    @Test("pairing that is stopped at any point, or loses its radio, ends without a bond")
    func stops() {
        let way: [Pairing.Event] = [
            .heard(Self.van), .tick, .dialled, .received(Self.hello), .asked(digits: "012345"), .answered(true),
            .paired(nil),
        ]
        for count in 0...way.count {
            for end in [Pairing.Event.stopped, .radioFailed(BearerError(.radioOff, "off"))] {
                var box = Box()
                for event in way.prefix(count) { box.happens(event, after: .seconds(1)) }
                let before = box.now
                box.happens(end)
                if box.outcome == nil {
                    #expect(box.actions.first == .send(.no(.left)))
                    box.waits()
                }
                #expect(box.outcome != nil, "\(end) after \(count) events")
                #expect(box.now - before <= Limits.goodbyeTimeout)
                // From the hello on, Bluetooth may have started to pair.
                #expect(box.actions.contains(.forget(Self.van)) == (count >= 4))
                #expect(!box.actions.contains(.keep(Self.van)))
            }
        }
    }

    @Test("messages out of order end in an outcome, and never in a bond that only one side knows")
    func anything() {
        let events: [Pairing.Event] =
            [
                .heard(Self.van), .called(Self.van), .dialled, .dialFailed, .received(nil), .received(Self.hello),
                .received(.verified), .linkEnded, .asked(digits: "000001"), .withdrawn, .answered(true), .paired(nil),
                .pairingFailed(cause: "x"), .tick,
            ] + PairingMessage.Reason.allCases.map { .received(.no($0)) }
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            var box = Box()
            var story: [Pairing.Event] = []
            while box.outcome == nil, story.count < 200 {
                let event = events.randomElement(using: &generator) ?? .tick
                story.append(event)
                box.happens(event, after: .milliseconds(400))
                let isKept = box.actions.contains(.keep(Self.van))
                let vouched = story.contains(.received(.verified)) && story.contains(.paired(nil))
                #expect(!isKept || vouched && story.contains(.answered(true)), "\(story)")
            }
            for _ in 0..<20 where box.outcome == nil { box.waits() }
            #expect(box.outcome != nil, "\(story)")
            #expect(box.pairing.deadline == nil)
        }
    }
}

@Suite("Messages between two boxes that bond")
struct PairingMessageTests {
    @Test("each message is read as it was written")
    func roundTrip() {
        let messages: [PairingMessage] =
            [.hello(name: "Dad's Car", hasBond: true), .hello(name: "x", hasBond: false), .verified]
            + PairingMessage.Reason.allCases.map { .no($0) }
        for message in messages { #expect(PairingMessage(message.bytes) == message) }
        #expect(PairingMessage.hello(name: "Ana", hasBond: true).bytes == [1, 1, 1, 0x41, 0x6E, 0x61])
    }

    @Test("a reason of a later version is unknown, and its further bytes are ignored")
    func later() {
        #expect(PairingMessage([3, 200, 7]) == .no(.unspecified))
        #expect(PairingMessage([2, 9]) == .verified)
    }

    @Test(
        "other messages are ignored",
        arguments: [
            [], [0], [1], [1, 1], [1, 2, 0, 0x41], [3], [4], [1, 1, 0] + [UInt8](repeating: 0x41, count: 249),
        ])
    func foreign(sdu: [UInt8]) {
        #expect(PairingMessage(sdu) == nil)
    }

    @Test("a name becomes one line that can be shown, whatever was sent")
    func names() {
        guard case .hello(let name, _) = PairingMessage([1, 1, 0] + Array("a\u{1B}[2J\nb".utf8)) else {
            Issue.record("no hello")
            return
        }
        #expect(!name.contains("\n") && !name.contains("\u{1B}"))
    }
}

@Suite("The encryption that a bond needs")
struct LinkSecurityTests {
    @Test(
        "a bond needs Secure Connections with compared numbers and a full-length key",
        arguments: [(1, 0, false), (2, 16, false), (3, 16, false), (4, 7, false), (4, 15, false), (4, 16, true)])
    func counts(level: UInt8, keyBytes: Int, isOfBond: Bool) {
        #expect(LinkSecurity(level: level, keyBytes: keyBytes).isOfBond == isOfBond)
    }
}
