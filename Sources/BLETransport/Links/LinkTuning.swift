// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides what one link is asked for: an event goes in, actions come out. Reads no clock; `now` is an argument.
///
/// The side that dialled asks: for 2M as soon as the handshake is done, for a supervision timeout that outlasts a short fade, and for
/// the connection intervals that the other side advises, which knows its other links (`IntervalPlan`): short ones while there is
/// data to send. Where that advises nothing in time, it asks for some by chance. The other side asks only where that had no
/// effect, since it may have a permission that the dialling side lacks: two sides that ask at once would undo each other's
/// changes. A kernel may refuse it, since it lets nobody ask for longer intervals than it has dialled with. What was refused is
/// not asked for again on this link.
public struct LinkTuning: Sendable {
    /// What can be asked for. The names are those of `LinkParameters`.
    public enum Setting: String, Hashable, Sendable, CaseIterable {
        case phy, interval, supervisionTimeout, dataLength
    }

    /// What happens.
    enum Event: Hashable, Sendable {
        /// The link is used, or is used again, for a channel of ours.
        case opened
        /// What the controller says: the interval in 1.25 ms, the timeout in 10 ms; the PHY by its number; bytes.
        case updated(interval: Int, timeout: Int)
        case phy(Int)
        case dataLength(Int)
        /// The controller, or the other side, does not do what was asked.
        case refused(Setting)
        /// This process may not ask.
        case forbidden
        /// The intervals that the link is to have: the other side's advice where this side has dialled, else its own plan.
        case advised(LinkIntervals)
        /// Somebody has said something.
        case data
        /// Time has passed: see `deadline`.
        case tick
    }

    /// What is to be asked for.
    enum Action: Hashable, Sendable {
        case setTwoMegabit
        case setDataLength
        /// Interval in 1.25 ms, timeout in 10 ms.
        case update(interval: Int, timeout: Int)

        /// Whether one takes the other's place.
        func isSame(as other: Self) -> Bool {
            switch (self, other) {
            case (.setTwoMegabit, .setTwoMegabit), (.setDataLength, .setDataLength), (.update, .update): true
            default: false
            }
        }
    }

    /// This side has dialled.
    private let isCentral: Bool
    private var mayAsk: Bool
    private(set) var got: LinkParameters
    private(set) var asked = LinkParameters()

    /// The system has links made with a shorter interval than ours: it stays as long as the link is alone.
    private let ownInterval: Int?
    /// For who is not advised.
    private let chance: LinkIntervals
    private var advice: LinkIntervals?
    private var isOpen = false
    private var refused: Set<Setting> = []
    /// The interval that was asked for last, and the word on it that is still to come.
    private var interval: Int?
    private var answerBy: MeshInstant?
    private var calmAt: MeshInstant?
    private var patientUntil: MeshInstant?
    private var adviceBy: MeshInstant?
    private var lengthAt: MeshInstant?
    private var isPeerTuning = false

    /// The tuning of a link that has come up like this. `mayAsk`: whether this process is allowed to. `isOfSystem`: whether the
    /// system, and no node, has chosen the intervals that links are made with. `chance`: intervals for who is not advised.
    init(isCentral: Bool, got: LinkParameters, mayAsk: Bool, isOfSystem: Bool = true, chance: LinkIntervals) {
        (self.isCentral, self.got, self.mayAsk, self.chance) = (isCentral, got, mayAsk, chance)
        let units = got.interval.map { Int(($0 / 1.25).rounded()) } ?? .max
        ownInterval = isOfSystem && units <= RadioLimits.configuredInterval ? units : nil
    }

    /// When `tick` is due.
    var deadline: MeshInstant? {
        guard isOpen, mayAsk else { return nil }
        return [answerBy, calmAt, patientUntil, adviceBy, lengthAt].compactMap(\.self).min()
    }

    /// What is told of the link.
    func condition() -> LinkCondition {
        LinkCondition(got: got, asked: asked, notPermitted: mayAsk ? [] : Setting.allCases.map(\.rawValue))
    }

    /// Takes an event.
    mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        switch event {
        case .opened: return opened(now)
        case .updated(let interval, let timeout):
            got.interval = Double(interval) * 1.25
            got.supervisionTimeout = timeout * 10
            // No node asks for the shortest one: that was this side's own kernel, whose adapter a node has set.
            if answerBy == nil, !RadioLimits.dialledInterval.contains(interval) { isPeerTuning = true }
            answerBy = nil
            return askForInterval(now)
        case .phy(let number): got.phy = number == 1 ? "1M" : number == 2 ? "2M" : "coded"
        case .dataLength(let octets): got.dataLength = octets
        case .refused(let setting):
            refused.insert(setting)
            if setting == .interval { answerBy = nil }
        case .forbidden: mayAsk = false
        case .advised(let intervals):
            advice = intervals
            adviceBy = nil
            return askForInterval(now)
        case .data:
            guard isOpen else { return [] }
            calmAt = now + RadioLimits.briskTime
            return askForInterval(now)
        case .tick: return tick(now)
        }
        return []
    }

    private mutating func opened(_ now: MeshInstant) -> [Action] {
        isOpen = true
        calmAt = now + RadioLimits.briskTime
        lengthAt = now + RadioLimits.tuningPatience
        adviceBy = isCentral && advice == nil ? now + RadioLimits.advicePatience : nil
        patientUntil = now + (isCentral ? RadioLimits.tuningDelay : RadioLimits.tuningPatience)
        return []
    }

    private mutating func tick(_ now: MeshInstant) -> [Action] {
        var actions: [Action] = []
        if let at = answerBy, now >= at { answerBy = nil }
        if let at = calmAt, now >= at { calmAt = nil }
        if let at = adviceBy, now >= at { adviceBy = nil }
        if let at = patientUntil, now >= at {
            patientUntil = nil
            if isCentral || !isPeerTuning { actions += askForPHY() }
        }
        if let at = lengthAt, now >= at {
            lengthAt = nil
            // Controllers agree on it by themselves, most often.
            if mayAsk, !refused.contains(.dataLength), (got.dataLength ?? 0) < RadioLimits.linkPacketBytes {
                asked.dataLength = RadioLimits.linkPacketBytes
                actions.append(.setDataLength)
            }
        }
        return actions + askForInterval(now)
    }

    private mutating func askForPHY() -> [Action] {
        guard mayAsk, !refused.contains(.phy), got.phy != "2M" else { return [] }
        asked.phy = "2M"
        return [.setTwoMegabit]
    }

    private mutating func askForInterval(_ now: MeshInstant) -> [Action] {
        guard mayAsk, isOpen, answerBy == nil, !refused.contains(.interval), interval != wanted,
            patientUntil == nil, adviceBy == nil, isCentral || !isPeerTuning
        else { return [] }
        interval = wanted
        answerBy = now + RadioLimits.tuningAnswer
        asked.interval = Double(wanted) * 1.25
        asked.supervisionTimeout = RadioLimits.tunedSupervision * 10
        return [.update(interval: wanted, timeout: RadioLimits.tunedSupervision)]
    }

    /// What the link is to have.
    var intervals: LinkIntervals {
        if let ownInterval, advice ?? RadioLimits.aloneIntervals == RadioLimits.aloneIntervals {
            return LinkIntervals(brisk: ownInterval, calm: ownInterval)
        }
        return advice ?? chance
    }

    private var wanted: Int { calmAt == nil ? intervals.calm : intervals.brisk }
}
