// SPDX-License-Identifier: Apache-2.0

import Bearers
import CBlueZ
import Glibc
import MeshProtocol

/// State of an adapter's links, and the requests for those that carry our channels. All other links belong to other
/// programs and stay as they are.
struct LinkWatch {
    /// The raw HCI socket that reports links. Nil if this process may not open one.
    var socket: PacketSocket?
    var reader: Task<Void, Never>?
    var ticker: Task<Void, Never>?
    /// The tuning of each link. The key is the controller's handle of the link.
    var links: [UInt16: LinkTuning] = [:]
    /// Requests that wait for the end of a dial, at most one of each kind for a link.
    var waiting: [(handle: UInt16, action: LinkTuning.Action)] = []
    /// The link of the last command of each kind. A refusal does not name it.
    var lastAsked: [UInt16: UInt16] = [:]
    /// The requests for a PHY that wait for an answer, by the link.
    var phyAnswers: [UInt16: CheckedContinuation<Bool, Never>] = [:]
}

/// Performs the actions of `LinkTuning`.
extension BlueZBearer {
    /// Reads the events of the adapter's links, if this process may.
    func watchLinks() {
        forgetLinks()
        guard permissions.mayCommand else { return }
        let descriptor = cbluez_hci_open_links(adapter.index)
        guard descriptor >= 0 else { return }
        let socket = PacketSocket(descriptor, poller: poller)
        linkWatch.socket = socket
        linkWatch.reader = Task { await self.readLinks(socket) }
    }

    func forgetLinks() {
        linkWatch.socket?.close()
        linkWatch.reader?.cancel()
        linkWatch.ticker?.cancel()
        linkWatch.answerAllPHYs()
        linkWatch = LinkWatch()
    }

    private func readLinks(_ socket: PacketSocket) async {
        while true {
            var event = cbluez_link_event()
            guard let read = try? await socket.perform(.readable, { Int(cbluez_hci_read_link($0, &event)) }), read >= 0
            else { break }
            if read == 1 { linkEvent(event) }
        }
        socket.close()
        if linkWatch.socket === socket { forgetLinks() }
    }

    private func linkEvent(_ event: cbluez_link_event) {
        let handle = event.handle
        switch Int(event.kind) {
        case CBLUEZ_LINK_UP:
            let got = LinkParameters(
                phy: "1M", interval: Double(event.interval) * 1.25, supervisionTimeout: Int(event.timeout) * 10,
                dataLength: 27)
            // The node's own shortest interval is for the handshake: the host's, or this node's if both have set one.
            let isOfNode = Int(event.interval) == RadioLimits.dialledInterval.lowerBound && held.hasShare
            linkWatch.links[handle] = LinkTuning(
                isCentral: event.is_central, got: got, mayAsk: true, isOfSystem: !isOfNode,
                chance: IntervalPlan.chance(.random(in: 0 ..< .max)))
            if let intervals = intervalPlan.intervals(of: handle) { tune(handle, .advised(intervals)) }
        case CBLUEZ_LINK_DOWN:
            linkWatch.links[handle] = nil
            linkWatch.answerPHY(of: handle, isAnswered: false)
        case CBLUEZ_LINK_UPDATED:
            tune(
                handle,
                event.status == 0
                    ? .updated(interval: Int(event.interval), timeout: Int(event.timeout)) : .refused(.interval))
        case CBLUEZ_LINK_PHY:
            tune(handle, event.status == 0 ? .phy(Int(event.phy)) : .refused(.phy))
            linkWatch.answerPHY(of: handle, isAnswered: true)
        case CBLUEZ_LINK_DATA_LENGTH: tune(handle, .dataLength(Int(event.octets)))
        case CBLUEZ_LINK_REFUSED:
            guard let handle = linkWatch.lastAsked[event.opcode], let setting = Self.setting(event.opcode) else {
                return
            }
            tune(handle, .refused(setting))
            if setting == .phy { linkWatch.answerPHY(of: handle, isAnswered: true) }
        default: break
        }
    }

    private static func setting(_ opcode: UInt16) -> LinkTuning.Setting? {
        switch Int32(opcode) {
        case CBLUEZ_OPCODE_UPDATE: .interval
        case CBLUEZ_OPCODE_SET_PHY: .phy
        case CBLUEZ_OPCODE_DATA_LENGTH: .dataLength
        default: nil
        }
    }

    // MARK: Requests

    /// Sends an event to a link's tuning, and makes the requests that it returns.
    func tune(_ handle: UInt16, _ event: LinkTuning.Event) {
        guard let actions = linkWatch.links[handle]?.handle(event, now: now) else { return }
        for action in actions { ask(action, of: handle) }
        watchTunings()
    }

    /// A channel has opened or closed, or a parent has given advice. Either may change the intervals of other links.
    func plan(_ change: (inout IntervalPlan) -> Void) {
        change(&intervalPlan)
        for handle in linkWatch.links.keys {
            if let intervals = intervalPlan.intervals(of: handle) { tune(handle, .advised(intervals)) }
        }
    }

    /// Handles a note of the radio at the other end. Only the side that accepted the link knows what else its adapter
    /// carries, so a host ignores a guest's advice.
    func heed(_ note: AirNote, of handle: UInt16, isDialled: Bool) {
        if isDialled {
            guard let intervals = note.intervals else { return }
            tune(handle, .advised(intervals))
            let kept = linkWatch.links[handle]?.intervals ?? intervals
            plan { $0.advised(handle, kept) }
        } else if let time = note.dialTime {
            found(within: time)
        }
    }

    private func watchTunings() {
        linkWatch.ticker?.cancel()
        guard let deadline = linkWatch.links.values.compactMap(\.deadline).min() else { return }
        linkWatch.ticker = Task {
            try? await Task.sleep(until: origin + deadline, clock: .continuous)
            guard !Task.isCancelled else { return }
            for (handle, tuning) in linkWatch.links {
                if let due = tuning.deadline, due <= now { tune(handle, .tick) }
            }
        }
    }

    /// Makes the requests that waited for the end of a dial, for links that still exist.
    func askWhatWaits() {
        let waiting = linkWatch.waiting
        linkWatch.waiting = []
        for (handle, action) in waiting where linkWatch.links[handle] != nil { ask(action, of: handle) }
    }

    private func ask(_ action: LinkTuning.Action, of handle: UInt16) {
        guard let socket = linkWatch.socket else { return }
        guard dialling == nil else {
            linkWatch.waiting.removeAll { $0.handle == handle && $0.action.isSame(as: action) }
            return linkWatch.waiting.append((handle, action))
        }
        logger.debug("link \(handle) is asked for \(action)")
        linkWatch.lastAsked[UInt16(Self.opcode(action))] = handle
        Task {
            let sent = try? await socket.perform(.writable) { Int(Self.send(action, of: handle, over: $0)) }
            if sent == -Int(EPERM) { tune(handle, .forbidden) }
        }
    }

    private static func opcode(_ action: LinkTuning.Action) -> Int32 {
        switch action {
        case .setTwoMegabit: CBLUEZ_OPCODE_SET_PHY
        case .setDataLength: CBLUEZ_OPCODE_DATA_LENGTH
        case .update: CBLUEZ_OPCODE_UPDATE
        }
    }

    private static func send(_ action: LinkTuning.Action, of handle: UInt16, over hci: Int32) -> Int32 {
        switch action {
        case .setTwoMegabit: return cbluez_hci_set_phy(hci, handle, UInt8(CBLUEZ_PHY_2M))
        case .setDataLength:
            return cbluez_hci_set_data_length(
                hci, handle, UInt16(RadioLimits.linkPacketBytes), UInt16(RadioLimits.linkPacketMicroseconds))
        case .update(let interval, let timeout):
            var parameters = cbluez_link_parameters(
                interval_min: UInt16(interval), interval_max: UInt16(interval), timeout: UInt16(timeout))
            return cbluez_hci_update_link(hci, handle, &parameters)
        }
    }

    // MARK: Reports

    /// The state of a link, in addition to what its own socket reports.
    func condition(of handle: UInt16, phy: String?) -> LinkCondition {
        let all = LinkTuning.Setting.allCases.map(\.rawValue)
        var condition =
            linkWatch.links[handle]?.condition()
            ?? LinkCondition(got: LinkParameters(phy: phy), notPermitted: permissions.mayCommand ? [] : all)
        let note = AirNote(intervals: intervalPlan.intervals(of: handle), dialTime: dialTimes[handle])
        condition.note = note.isEmpty ? nil : note
        return condition
    }
}
