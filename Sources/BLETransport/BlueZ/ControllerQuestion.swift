// SPDX-License-Identifier: Apache-2.0

import Bearers
import CBlueZ

/// One command to a controller and its answer, over a separate raw HCI socket.
struct ControllerQuestion {
    enum Reply {
        case answer(cbluez_hci_answer)
        /// No answer came in time, or the task was cancelled.
        case silence
        /// The adapter is off or gone, or this process may not ask.
        case notAsked
    }

    let adapterIndex: UInt16
    let opcode: Int
    let patience: Duration

    /// Whether the controller answers any command within `RadioLimits.controllerSilence`. Nil if it cannot be asked
    /// because it is off or gone; other code reports that. It uses Read RSSI, which needs no capability.
    static func isAnswered(by adapterIndex: UInt16, poller: Poller) async -> Bool? {
        // The last handle that a link can have (Vol 4, Part E, 5.4.2). Almost no link has it, and "no such link" is an
        // answer.
        let handle: UInt16 = 0x0EFF
        let question = Self(
            adapterIndex: adapterIndex, opcode: CBLUEZ_READ_RSSI, patience: RadioLimits.controllerSilence)
        // An answer to another process is enough.
        switch await question.ask(poller, { cbluez_hci_request_rssi($0, handle) }, isAnswered: { _ in true }) {
        case .answer: return true
        case .silence: return Task.isCancelled ? nil : false
        case .notAsked: return nil
        }
    }

    /// The signal strength of a link in dBm. Nil if the controller does not report it, or does not answer in time.
    static func signalStrength(of handle: UInt16, on adapterIndex: UInt16, poller: Poller) async -> Int? {
        let question = Self(
            adapterIndex: adapterIndex, opcode: CBLUEZ_READ_RSSI, patience: RadioLimits.controllerAnswer)
        var (answered, rssi): (UInt16, Int8) = (0, 0)
        let reply = await question.ask(poller, { cbluez_hci_request_rssi($0, handle) }) {
            cbluez_hci_rssi([$0], &answered, &rssi) && answered == handle
        }
        guard case .answer(let answer) = reply, answer.status == 0, rssi != CBLUEZ_RSSI_UNKNOWN else { return nil }
        return Int(rssi)
    }

    /// Sends a command with `request` (0, or a negative errno), and waits for its answer. Every raw socket of an
    /// adapter gets the answers to all processes.
    func ask(
        _ poller: Poller, _ request: @escaping @Sendable (Int32) -> Int32, isAnswered: (cbluez_hci_answer) -> Bool
    ) async -> Reply {
        let descriptor = cbluez_hci_open_answers(adapterIndex, UInt16(opcode))
        guard descriptor >= 0 else { return .notAsked }
        let hci = PacketSocket(descriptor, poller: poller)
        let timeout = Task {
            try await Task.sleep(for: patience)
            hci.close()
        }
        defer {
            timeout.cancel()
            hci.close()
        }
        guard (try? await hci.perform(.writable, { Int(request($0)) })) == 0 else { return .notAsked }
        while true {
            var answer = cbluez_hci_answer()
            guard let read = try? await hci.perform(.readable, { Int(cbluez_hci_read_answer($0, &answer)) }) else {
                return .silence
            }
            guard read >= 0 else { return .notAsked }
            if read == 1, answer.opcode == UInt16(opcode), isAnswered(answer) { return .answer(answer) }
        }
    }
}
