// SPDX-License-Identifier: Apache-2.0

import Bearers
import MeshProtocol

/// Decides how two devices bond. They find each other, open a channel, and have Bluetooth pair them while two people
/// compare six digits. Then they check the result. An event goes in, actions come out; time is an argument.
///
/// Every failure ends in one outcome and leaves nothing behind: if one side does not confirm a bond, the other removes
/// it.
public struct Pairing: Sendable {
    /// An event of the pairing.
    public enum Event: Hashable, Sendable {
        /// A device that wants to bond is heard.
        case heard(PairingDevice)
        /// A device has dialled this one.
        case called(PairingDevice)
        /// The dial has opened a channel, or has failed.
        case dialled
        case dialFailed
        /// The other side has sent a message. Nil for an unknown one.
        case received(PairingMessage?)
        /// The channel has ended.
        case linkEnded
        /// Bluetooth asks the person to compare these digits.
        case asked(digits: String)
        /// Bluetooth has cancelled its question: the pairing has failed.
        case withdrawn
        /// The person's answer.
        case answered(Bool)
        /// Bluetooth has paired the two. Nil means that the bond is strong enough.
        case paired(PairingWeakness?)
        /// Bluetooth could not pair the two. The cause is the system's text.
        case pairingFailed(cause: String)
        /// The radio has stopped working.
        case radioFailed(BearerError)
        /// The person has stopped the pairing.
        case stopped
        /// Time has passed: see `deadline`.
        case tick
    }

    /// An action for the run.
    public enum Action: Hashable, Sendable {
        /// Start or stop to advertise and scan.
        case look
        case stopLooking
        /// Open a channel to the device.
        case dial(PairingDevice)
        /// Accept the channel of the device that has dialled, or close it.
        case takeCall
        case refuseCall
        /// Cancel the dial or close the channel.
        case hangUp
        /// Send a message on the channel.
        case send(PairingMessage)
        /// Have Bluetooth pair with the device at the other end.
        case pair
        /// Answer Bluetooth's question.
        case answer(Bool)
        /// Show this to the person.
        case tell(PairingUpdate)
        /// Keep the bond, under this name.
        case keep(PairingDevice)
        /// Remove all of a bond with this device.
        case forget(PairingDevice)
        /// The pairing has ended.
        case finish(PairingOutcome)
    }

    private enum State: Hashable, Sendable {
        /// Advertising and scanning. Next: `dialling`, `greeting` or, at the end of the search, `over`.
        case looking
        /// Dialling the found device. Next: `greeting`, or back to `looking`.
        case dialling(PairingDevice)
        /// On a channel, before the peer's hello. Next: `bonding`, back to `looking`, or `parting`.
        case greeting(PairingDevice, isDialler: Bool)
        /// Bluetooth is pairing. Next: `asking`.
        case bonding(PairingDevice)
        /// The person compares the digits. Next: `agreed` or `parting`.
        case asking(PairingDevice)
        /// The person has confirmed the digits. Next: `verified` or `parting`.
        case agreed(PairingDevice)
        /// This side confirms the bond. Next: `parting`.
        case verified(PairingDevice)
        /// Bluetooth's pairing has failed, and the peer may still send the reason. Next: `over`.
        case failing(PairingDevice, PairingOutcome)
        /// The final frame is sent and must arrive. Next: `over`, or back to `looking`.
        case parting(PairingDevice, Afterwards)
        /// Final.
        case over
    }

    private enum Afterwards: Hashable, Sendable {
        case finish(PairingOutcome)
        case lookAgain
    }

    private let name: String
    private let token: String
    private let wanted: String?
    private var state = State.looking
    /// The deadline of the present state.
    private var stateEnds: MeshInstant
    /// The other side confirms the bond.
    private var isVouchedFor = false
    /// The devices that were heard, and the end of the time to collect them.
    private var heard: [String: PairingDevice] = [:]
    private var gatherEnds: MeshInstant?
    /// Devices that look for another device, and devices that this one does not look for.
    private var ignored: Set<String> = []
    /// Number of meetings with a device that had no result.
    private var meetings = 0
    /// Bluetooth was asked to pair, so a part of a bond may exist.
    private var hasBegun = false

    /// A pairing that begins now, under this name. `wanted` is the name or address of the other device, or nil if only
    /// one is expected. `token` is random.
    public init(name: String, token: String, wanted: String? = nil, now: MeshInstant) {
        self.name = name
        self.token = token
        self.wanted = wanted
        stateEnds = now + RadioLimits.pairingSearch
    }

    /// When `tick` is due. Nil when the pairing is over.
    public var deadline: MeshInstant? {
        switch state {
        case .over: nil
        case .looking: [stateEnds, dialDue].compactMap(\.self).min()
        default: stateEnds
        }
    }

    /// Decides the actions for an event.
    public mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        switch (state, event) {
        case (.over, .called): return [.refuseCall]
        case (.over, _): return []
        // An earlier decision stays.
        case (.parting(_, .finish(let outcome)), .radioFailed): return finish(outcome)
        case (_, .radioFailed(let failure)): return finish(.radio(failure))
        case (_, .stopped): return stop(now: now)
        case (.asking, .answered): break
        case (_, .answered): return [.tell(.nothingAsked)]
        default: break
        }
        switch state {
        case .looking: return look(event, now: now)
        case .dialling(let device): return dial(device, event, now: now)
        case .greeting(let device, let isDialler): return greet(device, isDialler, event, now: now)
        default: return bond(event, now: now)
        }
    }

    // MARK: Steps that all states share

    private mutating func enter(_ next: State, for time: Duration, now: MeshInstant) {
        state = next
        stateEnds = now + time
    }

    /// Sends the reason, waits until it has arrived, and then ends or continues.
    private mutating func part(
        _ device: PairingDevice, _ last: PairingMessage, _ afterwards: Afterwards, now: MeshInstant
    ) -> [Action] {
        enter(.parting(device, afterwards), for: Limits.goodbyeTimeout, now: now)
        return [.send(last)]
    }

    /// Ends the pairing. If the outcome is not a bond, an incomplete bond is removed.
    private mutating func finish(_ outcome: PairingOutcome) -> [Action] {
        let partner = partner
        state = .over
        var actions: [Action] = [.stopLooking, .hangUp]
        if case .bonded(let device) = outcome {
            actions.append(.keep(device))
        } else if hasBegun, let partner {
            actions.append(.forget(partner))
        }
        return actions + [.finish(outcome)]
    }

    private var partner: PairingDevice? {
        switch state {
        case .looking, .over: nil
        case .dialling(let device), .greeting(let device, _), .bonding(let device), .asking(let device),
            .agreed(let device),
            .verified(let device), .failing(let device, _), .parting(let device, _):
            device
        }
    }

    /// Looks for a device again, unless too many meetings had no result.
    private mutating func lookAgain(_ device: PairingDevice, _ before: [Action] = [], now: MeshInstant) -> [Action] {
        meetings += 1
        guard meetings < RadioLimits.pairingMeetings else {
            return before
                + finish(
                    .failed(device, cause: "the devices connected \(meetings) times, and the link broke each time"))
        }
        enter(.looking, for: RadioLimits.pairingSearch, now: now)
        heard[device.id] = nil
        gatherEnds = nil
        (isVouchedFor, hasBegun) = (false, false)
        return before + [.hangUp, .look]
    }

    private mutating func stop(now: MeshInstant) -> [Action] {
        switch state {
        case .bonding(let device), .agreed(let device), .verified(let device):
            return part(device, .no(.left), .finish(.stopped), now: now)
        case .asking(let device): return part(device, .no(.left), .finish(.stopped), now: now) + [.answer(false)]
        case .greeting(let device, _): return part(device, .no(.left), .finish(.stopped), now: now)
        case .parting(_, .finish): return []
        case .parting, .failing, .looking, .dialling, .over: return finish(.stopped)
        }
    }

    // MARK: Until the two hellos: the choice of the device, and of the side that dials

    /// When to dial the device that was heard, or to report several. The device with the lower token dials. The device
    /// with the higher token dials too if no dial has come in time.
    private var dialDue: MeshInstant? {
        guard let gatherEnds, let device = candidates.first else { return nil }
        return candidates.count > 1 || token < device.token ? gatherEnds : gatherEnds + RadioLimits.pairingPatience
    }

    /// The devices that may be the wanted one.
    private var candidates: [PairingDevice] {
        heard.values.filter { device in !ignored.contains(device.id) && wanted.map { device.isCalled($0) } ?? true }
            .sorted { $0.id < $1.id }
    }

    private mutating func look(_ event: Event, now: MeshInstant) -> [Action] {
        switch event {
        case .heard(let device): return hear(device, now: now)
        case .called(let device):
            guard !ignored.contains(device.id) else { return [.refuseCall] }
            enter(.greeting(device, isDialler: false), for: RadioLimits.pairingStep, now: now)
            return [.takeCall, .stopLooking, .send(.hello(name: name, hasBond: device.hasBond))]
        case .tick where now >= stateEnds: return finish(.nobody(wanted: wanted))
        case .tick:
            guard let dialDue, now >= dialDue, let device = candidates.first else { return [] }
            guard candidates.count == 1 else { return finish(.several(candidates)) }
            enter(.dialling(device), for: RadioLimits.pairingStep, now: now)
            return [.stopLooking, .dial(device)]
        default: return []
        }
    }

    private mutating func hear(_ device: PairingDevice, now: MeshInstant) -> [Action] {
        guard heard[device.id] != nil || heard.count < BearerLimits.scanResults else { return [] }
        let isNew = heard[device.id]?.name != device.name && !device.name.isEmpty && !ignored.contains(device.id)
        heard[device.id] = device
        // With a named device, do not wait for others.
        if gatherEnds == nil, !candidates.isEmpty {
            gatherEnds = wanted == nil ? now + RadioLimits.pairingGather : now
        }
        return isNew ? [.tell(.heard(device))] : []
    }

    private mutating func dial(_ device: PairingDevice, _ event: Event, now: MeshInstant) -> [Action] {
        switch event {
        case .dialled:
            enter(.greeting(device, isDialler: true), for: RadioLimits.pairingStep, now: now)
            return [.send(.hello(name: name, hasBond: device.hasBond))]
        case .dialFailed: return linkBroke(with: device, now: now)
        case .tick where now >= stateEnds: return lookAgain(device, now: now)
        case .called: return [.refuseCall]
        default: return []
        }
    }

    private mutating func greet(_ device: PairingDevice, _ isDialler: Bool, _ event: Event, now: MeshInstant)
        -> [Action]
    {
        switch event {
        case .received(.hello(let name, let hasBond)):
            var device = device
            if !name.isEmpty { device.name = name }
            return meet(device, isDialler, theyHaveBond: hasBond, now: now)
        case .received(.no(let reason)): return turnedAway(by: device, reason, now: now)
        case .received: return finish(.misspoke(device))
        case .linkEnded: return linkBroke(with: device, now: now)
        case .tick where now >= stateEnds: return lookAgain(device, now: now)
        case .called: return [.refuseCall]
        default: return []
        }
    }

    private mutating func meet(
        _ device: PairingDevice, _ isDialler: Bool, theyHaveBond: Bool, now: MeshInstant
    ) -> [Action] {
        if let wanted, !device.isCalled(wanted) {
            ignored.insert(device.id)
            return part(device, .no(.notMeant), .lookAgain, now: now)
        }
        // The scan may or may not have heard the device that dialled.
        let others = wanted == nil ? heard.values.filter { $0.id != device.id && !ignored.contains($0.id) } : []
        guard others.isEmpty else {
            let all = (others + [device]).sorted { $0.id < $1.id }
            return part(device, .no(.several), .finish(.several(all)), now: now)
        }
        switch (device.hasBond, theyHaveBond) {
        case (true, true): return part(device, .verified, .finish(.alreadyBonded(device)), now: now)
        // A bond on one side only prevents a new one. The side that has it removes it, and the devices meet again.
        case (true, false): return lookAgain(device, forgettingBond(with: device), now: now)
        case (false, true): return lookAgain(device, now: now)
        case (false, false):
            hasBegun = true
            enter(.bonding(device), for: RadioLimits.pairingStep, now: now)
            return isDialler ? [.pair] : []
        }
    }

    private mutating func turnedAway(
        by device: PairingDevice, _ reason: PairingMessage.Reason, now: MeshInstant
    ) -> [Action] {
        switch reason {
        case .notMeant:
            ignored.insert(device.id)
            return lookAgain(device, now: now)
        default: return finish(outcome(of: reason, device))
        }
    }

    /// A bond that the other side does not know breaks the link as soon as it is used. A single break may have another
    /// cause.
    private mutating func linkBroke(with device: PairingDevice, now: MeshInstant) -> [Action] {
        lookAgain(device, meetings > 0 ? forgettingBond(with: device) : [], now: now)
    }

    private func forgettingBond(with device: PairingDevice) -> [Action] {
        device.hasBond ? [.forget(device), .tell(.forgotten(device))] : []
    }

    // MARK: From the hellos to the result

    private mutating func bond(_ event: Event, now: MeshInstant) -> [Action] {
        switch (state, event) {
        case (_, .called): return [.refuseCall]
        case (.bonding(let device), .asked(let digits)):
            enter(.asking(device), for: RadioLimits.pairingAnswer, now: now)
            return [.tell(.digits(digits, device, within: RadioLimits.pairingAnswer))]
        // The person has not seen this question, so the answer is no.
        case (_, .asked): return [.answer(false)]
        case (.asking(let device), .answered(true)):
            // The other person began to compare at the same time, or a little later.
            state = .agreed(device)
            stateEnds += RadioLimits.pairingLastWord + RadioLimits.pairingStep
            return [.answer(true), .tell(.waiting(for: device))]
        // Send the reason before Bluetooth's own no, which carries none.
        case (.asking(let device), .answered(false)):
            return part(device, .no(.refused), .finish(.refusedHere(device)), now: now) + [.answer(false)]
        case (.asking(let device), .tick) where now >= stateEnds:
            return part(device, .no(.unanswered), .finish(.unansweredHere(device)), now: now) + [.answer(false)]
        case (.agreed(let device), .paired(nil)): return vouch(for: device, now: now)
        case (.agreed(let device), .paired(let weakness?)):
            return part(device, .no(.weak), .finish(.weakHere(device, weakness)), now: now)
        case (.bonding(let device), .paired), (.asking(let device), .paired):
            return part(device, .no(.weak), .finish(.weakHere(device, .unasked)), now: now)
        case (_, .received(let message)): return listen(to: message, now: now)
        case (.bonding(let device), .pairingFailed(let cause)), (.asking(let device), .pairingFailed(let cause)),
            (.agreed(let device), .pairingFailed(let cause)):
            enter(.failing(device, .failed(device, cause: cause)), for: RadioLimits.pairingLastWord, now: now)
            return []
        case (.asking(let device), .withdrawn), (.agreed(let device), .withdrawn), (.bonding(let device), .withdrawn):
            let outcome = PairingOutcome.failed(device, cause: "the pairing was cancelled")
            enter(.failing(device, outcome), for: RadioLimits.pairingLastWord, now: now)
            return []
        case (_, .linkEnded), (_, .tick): return end(event, now: now)
        default: return []
        }
    }

    private mutating func vouch(for device: PairingDevice, now: MeshInstant) -> [Action] {
        guard !isVouchedFor else { return part(device, .verified, .finish(.bonded(device)), now: now) }
        enter(.verified(device), for: RadioLimits.pairingStep, now: now)
        return [.send(.verified)]
    }

    private mutating func listen(to message: PairingMessage?, now: MeshInstant) -> [Action] {
        switch (state, message) {
        case (.verified(let device), .verified):
            // This side's own message may still be in transit.
            enter(.parting(device, .finish(.bonded(device))), for: Limits.goodbyeTimeout, now: now)
            return []
        // The other side was faster.
        case (.agreed, .verified):
            isVouchedFor = true
            return []
        case (.parting(_, .finish(.alreadyBonded)), .verified): return []
        case (.asking(let device), .no(let reason)): return [.answer(false)] + finish(outcome(of: reason, device))
        case (.bonding(let device), .no(let reason)), (.agreed(let device), .no(let reason)),
            (.verified(let device), .no(let reason)), (.failing(let device, _), .no(let reason)):
            return finish(outcome(of: reason, device))
        case (.parting, _): return []
        case (.asking(let device), _): return [.answer(false)] + finish(.misspoke(device))
        case (.bonding(let device), _), (.agreed(let device), _), (.verified(let device), _),
            (.failing(let device, _), _):
            return finish(.misspoke(device))
        default: return []
        }
    }

    /// The link has ended, or a state has reached its deadline.
    private mutating func end(_ event: Event, now: MeshInstant) -> [Action] {
        guard event == .linkEnded || now >= stateEnds else { return [] }
        switch state {
        case .parting(let device, .lookAgain): return lookAgain(device, now: now)
        case .parting(_, .finish(let outcome)): return finish(outcome)
        case .failing(_, let outcome): return finish(outcome)
        case .asking(let device): return [.answer(false)] + finish(.lost(device))
        case .bonding(let device), .agreed(let device), .verified(let device): return finish(.lost(device))
        case .looking, .dialling, .greeting, .over: return []
        }
    }

    /// The outcome here for the other side's reason.
    private func outcome(of reason: PairingMessage.Reason, _ device: PairingDevice) -> PairingOutcome {
        switch reason {
        case .refused: .refusedThere(device)
        case .unanswered: .unansweredThere(device)
        case .weak: .weakThere(device)
        case .left: .leftThere(device)
        case .several: .several([device])
        case .notMeant, .unspecified: .failed(device, cause: "the other device gave no reason")
        }
    }
}
