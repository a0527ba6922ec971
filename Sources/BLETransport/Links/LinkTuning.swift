// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides the requests for one link: an event goes in, actions come out. It reads no clock; `now` is an argument.
///
/// The side that dialled makes the requests. It requests 2M when the handshake is done, and a supervision timeout that
/// outlasts a short fade. It requests the connection intervals that the other side advises, which knows its other links
/// (`IntervalPlan`): short ones while there is data to send. If no advice comes in time, it requests random ones. The
/// other side makes requests only if these requests had no effect, since the other side may have a permission that the
/// dialling side lacks. Two sides that request at once would undo each other's changes. A kernel may refuse, since it
/// allows no longer intervals than those it has dialled with. A refused setting is not requested again on this link.
public struct LinkTuning: Sendable {
    /// A setting that can be requested. The names are those of `LinkParameters`.
    public enum Setting: String, Hashable, Sendable, CaseIterable {
        case phy, interval, supervisionTimeout, dataLength
    }

    /// An event on the link.
    enum Event: Hashable, Sendable {
        /// A channel of ours uses the link, for the first time or again.
        case opened
        /// The controller reports this interval in 1.25 ms and timeout in 10 ms, this PHY by its number, or this data
        /// length in bytes.
        case updated(interval: Int, timeout: Int)
        case phy(Int)
        case dataLength(Int)
        /// The controller or the other side has refused a request.
        case refused(Setting)
        /// This process may not make requests.
        case forbidden
        /// The intervals for the link: the other side's advice if this side has dialled, else from its own plan.
        case advised(LinkIntervals)
        /// Data has been sent or received.
        case data
        /// Time has passed: see `deadline`.
        case tick
    }

    /// A request to the controller.
    enum Action: Hashable, Sendable {
        case setTwoMegabit
        case setDataLength
        /// Interval in 1.25 ms, timeout in 10 ms.
        case update(interval: Int, timeout: Int)

        /// Whether both actions set the same thing, so that the later one replaces the earlier one.
        func isSame(as other: Self) -> Bool {
            switch (self, other) {
            case (.setTwoMegabit, .setTwoMegabit), (.setDataLength, .setDataLength), (.update, .update): true
            default: false
            }
        }
    }

    /// Whether this side has dialled.
    private let isCentral: Bool
    private var mayAsk: Bool
    private(set) var got: LinkParameters
    private(set) var asked = LinkParameters()

    /// The interval with which the system creates links, if it is shorter than ours. A link keeps this interval while
    /// it is the only link.
    private let ownInterval: Int?
    /// Intervals without advice.
    private let chance: LinkIntervals
    private var advice: LinkIntervals?
    /// Whether the link has carried a channel of this radio.
    private(set) var isOpen = false
    private var refused: Set<Setting> = []
    /// The last requested interval, and the deadline for its answer.
    private var interval: Int?
    private var answerBy: MeshInstant?
    private var calmAt: MeshInstant?
    private var patientUntil: MeshInstant?
    private var adviceBy: MeshInstant?
    private var lengthAt: MeshInstant?
    private var isPeerTuning = false

    /// The tuning of a link with these parameters. `mayAsk` is whether this process may make requests. `isOfSystem` is
    /// whether the system, and not a node, has chosen the intervals of new links. `chance` is the intervals to use
    /// without advice.
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

    /// The reported condition of the link.
    func condition() -> LinkCondition {
        LinkCondition(got: got, asked: asked, notPermitted: mayAsk ? [] : Setting.allCases.map(\.rawValue))
    }

    /// Decides the actions for an event.
    mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        switch event {
        case .opened: return opened(now)
        case .updated(let interval, let timeout):
            got.interval = Double(interval) * 1.25
            got.supervisionTimeout = timeout * 10
            // No node requests an interval in this range. It comes from this side's own kernel, on an adapter that a
            // node has set.
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
            // Most controllers agree on it without a request.
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

    /// The intervals for the link.
    var intervals: LinkIntervals {
        if let ownInterval, advice ?? Limits.aloneIntervals == Limits.aloneIntervals {
            return LinkIntervals(brisk: ownInterval, calm: ownInterval)
        }
        return advice ?? chance
    }

    private var wanted: Int { calmAt == nil ? intervals.calm : intervals.brisk }
}
