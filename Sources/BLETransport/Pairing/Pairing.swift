// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides how two boxes come to be bonded: they find one another, meet on a channel, have Bluetooth pair them while two
/// people compare six digits, and look at what came of it. An event goes in, actions come out; time is an argument.
///
/// Whatever goes wrong ends in one outcome with nothing left of it: a bond that one side does not vouch for is forgotten
/// on the other.
public struct Pairing: Sendable {
    /// What happens.
    public enum Event: Hashable, Sendable {
        /// A box that wants to bond is heard.
        case heard(PairingBox)
        /// A box has dialled this one.
        case called(PairingBox)
        /// The dial has ended in a channel, or without.
        case dialled
        case dialFailed
        /// The other side has said something; nil where that is nothing.
        case received(PairingMessage?)
        /// The channel has ended.
        case linkEnded
        /// Bluetooth wants these digits compared.
        case asked(digits: String)
        /// Bluetooth does not want that answered any more: the pairing has failed.
        case withdrawn
        /// The person's answer.
        case answered(Bool)
        /// Bluetooth has paired the two. Nil: well enough.
        case paired(PairingWeakness?)
        /// Bluetooth could not; the cause in the system's words.
        case pairingFailed(cause: String)
        /// The radio does not work any more.
        case radioFailed(RadioFailure)
        /// The person has stopped it.
        case stopped
        /// Time has passed: see `deadline`.
        case tick
    }

    /// What is to be done.
    public enum Action: Hashable, Sendable {
        /// Advertise and listen, or stop to.
        case look
        case stopLooking
        /// Open a channel to the box.
        case dial(PairingBox)
        /// Take the channel of the box that has called, or close it.
        case takeCall
        case refuseCall
        /// Give up the dial, or close the channel.
        case hangUp
        /// Say something on the channel.
        case send(PairingMessage)
        /// Have Bluetooth pair with the box at the other end.
        case pair
        /// Answer Bluetooth's question.
        case answer(Bool)
        /// Tell the person.
        case tell(PairingNews)
        /// The bond stays, under this name.
        case keep(PairingBox)
        /// Nothing of a bond with this box may stay.
        case forget(PairingBox)
        /// It is over.
        case finish(PairingOutcome)
    }

    enum State: Hashable, Sendable {
        /// Advertising and listening. To `dialling`, `greeting` or, at the end of the search, `over`.
        case looking
        /// To `greeting`, or back to `looking`.
        case dialling(PairingBox)
        /// On a channel, before the other side's hello. To `bonding`, back to `looking`, or `parting`.
        case greeting(PairingBox, isDialler: Bool)
        /// Bluetooth pairs. To `asking`.
        case bonding(PairingBox)
        /// The person compares. To `agreed` or `parting`.
        case asking(PairingBox)
        /// The person has said yes. To `verified` or `parting`.
        case agreed(PairingBox)
        /// This side vouches for the bond. To `parting`.
        case verified(PairingBox)
        /// Bluetooth's pairing has failed, and the other side may still say why. To `over`.
        case failing(PairingBox, PairingOutcome)
        /// The last word is said, and has to arrive. To `over`, or back to `looking`.
        case parting(PairingBox, Afterwards)
        /// Final.
        case over
    }

    enum Afterwards: Hashable, Sendable {
        case finish(PairingOutcome)
        case lookAgain
    }

    let name: String
    let token: String
    let wanted: String?
    var state = State.looking
    /// When the present state has taken too long.
    var stateEnds: MeshInstant
    /// The other side vouches for the bond.
    var isVouchedFor = false
    /// The boxes that were heard, and when the first of them was.
    var heard: [String: PairingBox] = [:]
    var gatherEnds: MeshInstant?
    /// Boxes that do not mean this one, or are not meant.
    var ignored: Set<String> = []
    /// How often this side has met a box for nothing.
    private(set) var meetings = 0
    /// Bluetooth was to pair: there may be something of a bond by now.
    var hasBegun = false

    /// A pairing that begins now, under this name. `wanted` is the name or address of the box that is meant, nil where
    /// there will be one only. `token` is random.
    public init(name: String, token: String, wanted: String? = nil, now: MeshInstant) {
        self.name = name
        self.token = token
        self.wanted = wanted
        stateEnds = now + RadioLimits.pairingSearch
    }

    /// When `tick` is due; nil when it is over.
    public var deadline: MeshInstant? {
        switch state {
        case .over: nil
        case .looking: [stateEnds, dialDue].compactMap(\.self).min()
        default: stateEnds
        }
    }

    /// Takes an event.
    public mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        switch (state, event) {
        case (.over, .called): return [.refuseCall]
        case (.over, _): return []
        // What was decided already stays so.
        case (.parting(_, .finish(let outcome)), .radioFailed): return finish(outcome)
        case (_, .radioFailed(let failure)): return finish(.radio(failure))
        case (_, .stopped): return stop(now: now)
        case (.asking, .answered): break
        case (_, .answered): return [.tell(.nothingAsked)]
        default: break
        }
        switch state {
        case .looking: return look(event, now: now)
        case .dialling(let box): return dial(box, event, now: now)
        case .greeting(let box, let isDialler): return greet(box, isDialler, event, now: now)
        default: return bond(event, now: now)
        }
    }

    // MARK: Steps that all states share

    mutating func enter(_ next: State, for time: Duration, now: MeshInstant) {
        state = next
        stateEnds = now + time
    }

    /// Says why, waits until that has arrived, and ends or goes on.
    mutating func part(
        _ box: PairingBox, _ last: PairingMessage, _ afterwards: Afterwards, now: MeshInstant
    ) -> [Action] {
        enter(.parting(box, afterwards), for: Limits.goodbyeTimeout, now: now)
        return [.send(last)]
    }

    /// Ends. Where the outcome is no bond, nothing of one that was begun is left.
    mutating func finish(_ outcome: PairingOutcome) -> [Action] {
        let partner = partner
        state = .over
        var actions: [Action] = [.stopLooking, .hangUp]
        if case .bonded(let box) = outcome {
            actions.append(.keep(box))
        } else if hasBegun, let partner {
            actions.append(.forget(partner))
        }
        return actions + [.finish(outcome)]
    }

    private var partner: PairingBox? {
        switch state {
        case .looking, .over: nil
        case .dialling(let box), .greeting(let box, _), .bonding(let box), .asking(let box), .agreed(let box),
            .verified(let box), .failing(let box, _), .parting(let box, _):
            box
        }
    }

    /// Goes back to looking for a box, unless that has led to nothing too often.
    mutating func lookAgain(_ box: PairingBox, _ before: [Action] = [], now: MeshInstant) -> [Action] {
        meetings += 1
        guard meetings < RadioLimits.pairingMeetings else {
            return before + finish(.failed(box, cause: "they met \(meetings) times, and the link broke each time"))
        }
        enter(.looking, for: RadioLimits.pairingSearch, now: now)
        heard[box.id] = nil
        gatherEnds = nil
        (isVouchedFor, hasBegun) = (false, false)
        return before + [.hangUp, .look]
    }

    private mutating func stop(now: MeshInstant) -> [Action] {
        switch state {
        case .bonding(let box), .agreed(let box), .verified(let box):
            return part(box, .no(.left), .finish(.stopped), now: now)
        case .asking(let box): return part(box, .no(.left), .finish(.stopped), now: now) + [.answer(false)]
        case .greeting(let box, _): return part(box, .no(.left), .finish(.stopped), now: now)
        case .parting(_, .finish): return []
        case .parting, .failing, .looking, .dialling, .over: return finish(.stopped)
        }
    }
}
