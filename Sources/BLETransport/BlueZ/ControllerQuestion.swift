// SPDX-License-Identifier: Apache-2.0

import CBlueZ

/// One command that a controller answers, over a raw HCI socket of its own.
struct ControllerQuestion {
    enum Reply {
        case answer(cbluez_hci_answer)
        /// Nothing came in time, or the task was cancelled.
        case silence
        /// The adapter is off or gone, or this process may not ask.
        case notAsked
    }

    private let adapterIndex: UInt16
    private let opcode: UInt16
    private let patience: Duration

    init(_ adapterIndex: UInt16, _ opcode: UInt16, within patience: Duration) {
        self.adapterIndex = adapterIndex
        self.opcode = opcode
        self.patience = patience
    }

    /// Sends the command by `request` (0, or a negative errno), and waits for the answer that is meant: every raw socket
    /// of an adapter hears every process's.
    func ask(
        _ poller: Poller, _ request: @escaping @Sendable (Int32) -> Int32, isAnswered: (cbluez_hci_answer) -> Bool
    ) async -> Reply {
        let descriptor = cbluez_hci_open_answers(adapterIndex, opcode)
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
            if read == 1, answer.opcode == opcode, isAnswered(answer) { return .answer(answer) }
        }
    }
}
