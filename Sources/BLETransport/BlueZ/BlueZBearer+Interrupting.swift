// SPDX-License-Identifier: Apache-2.0

import Bearers
import CBlueZ

/// Causes the interruptions that `roadmesh fieldtest bench` measures.
extension BlueZBearer: InterruptibleBearer {
    /// Ends all links that carry a channel of this radio. bluetoothd needs two seconds for this.
    public func endLinks() async {
        for endpoint in Set(channels.compactMap { $0.channel?.endpoint }) { await endLink(to: endpoint) }
    }

    /// Switches the adapter off or on through bluetoothd.
    public func switchAdapter(on isOn: Bool) async throws(BearerError) {
        // A pending dial at a power-off can crash some kernels (`docs/bluez.md`).
        if !isOn { dialling?.close() }
        try await power(isOn)
    }

    /// Asks for a PHY on every link with a channel, with LE Set PHY. The controller needs the permission CAP_NET_RAW of
    /// this process.
    public func change(to phy: LinkPHY) async throws(BearerError) {
        guard let socket = linkWatch.socket else {
            throw BearerError(.notPermitted, "a request for a PHY needs CAP_NET_RAW")
        }
        let handles = linkWatch.links.filter { $0.value.isOpen }.keys.sorted()
        for handle in handles where linkWatch.links[handle]?.got.phy != phy.rawValue {
            linkWatch.lastAsked[UInt16(CBLUEZ_OPCODE_SET_PHY)] = handle
            let sent = try await socket.perform(.writable) { Int(cbluez_hci_set_phy($0, handle, phy.bit)) }
            guard sent == 0 else { throw BearerError(.notPermitted, SystemError.text(Int32(-sent))) }
            guard await phyAnswer(of: handle), linkWatch.links[handle]?.got.phy == phy.rawValue else {
                throw BearerError(.unsupported, "the controllers do not use this PHY")
            }
        }
    }

    /// Waits for the controller's answer to a request for a PHY. False if none comes in time.
    private func phyAnswer(of handle: UInt16) async -> Bool {
        let alarm = Task {
            try? await Task.sleep(for: RadioLimits.tuningAnswer)
            if !Task.isCancelled { linkWatch.answerPHY(of: handle, isAnswered: false) }
        }
        defer { alarm.cancel() }
        return await withCheckedContinuation { linkWatch.phyAnswers[handle] = $0 }
    }
}

extension LinkWatch {
    /// The controller has answered a request for a PHY, or the time for the answer is over.
    mutating func answerPHY(of handle: UInt16, isAnswered: Bool) {
        phyAnswers.removeValue(forKey: handle)?.resume(returning: isAnswered)
    }

    /// The links that are waited for have ended.
    mutating func answerAllPHYs() {
        for handle in phyAnswers.keys { answerPHY(of: handle, isAnswered: false) }
    }
}

extension LinkPHY {
    /// The bit in LE Set PHY (7.8.49).
    fileprivate var bit: UInt8 {
        switch self {
        case .oneMegabit: 0x01
        case .twoMegabit: 0x02
        case .coded: 0x04
        }
    }
}
