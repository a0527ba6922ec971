// SPDX-License-Identifier: Apache-2.0

import CBlueZ
import MeshProtocol

/// Asks a controller for any answer at all.
enum ControllerProbe {
    /// The last handle that a link can have (Vol 4, Part E, 5.4.2): hardly ever one has it, and "no such link" is an answer.
    private static let handle: UInt16 = 0x0EFF

    /// Whether the controller answers within `Limits.controllerSilence`. Nil where it cannot be asked, since it is off or
    /// gone, which others tell. Read RSSI is used, for which no capability is needed.
    static func answers(_ adapterIndex: UInt16, poller: Poller) async -> Bool? {
        let descriptor = cbluez_hci_open(adapterIndex)
        guard descriptor >= 0 else { return nil }
        let hci = PacketSocket(descriptor, poller: poller)
        let timeout = Task {
            try await Task.sleep(for: Limits.controllerSilence)
            hci.close()
        }
        defer {
            timeout.cancel()
            hci.close()
        }
        let requested = try? await hci.perform(.writable) { Int(cbluez_hci_request_rssi($0, handle)) }
        guard requested == 0 else { return nil }
        while true {
            var (answered, rssi, status): (UInt16, Int8, UInt8) = (0, 0, 0)
            let read: Int
            do {
                read = try await hci.perform(.readable) { Int(cbluez_hci_read_rssi($0, &answered, &rssi, &status)) }
            } catch {
                // Closed by the timeout, or by our own end.
                return Task.isCancelled ? nil : false
            }
            // Whoever it was that asked: it answers.
            if read == 1 { return true }
            guard read >= 0 else { return nil }
        }
    }
}
