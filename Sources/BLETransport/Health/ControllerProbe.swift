// SPDX-License-Identifier: Apache-2.0

import CBlueZ

/// Asks a controller for any answer at all.
enum ControllerProbe {
    /// The last handle that a link can have (Vol 4, Part E, 5.4.2): hardly ever one has it, and "no such link" is an answer.
    private static let handle: UInt16 = 0x0EFF

    /// Whether the controller answers within `RadioLimits.controllerSilence`. Nil where it cannot be asked, since it
    /// is off or gone, which others tell. Read RSSI is used, for which no capability is needed.
    static func answers(_ adapterIndex: UInt16, poller: Poller) async -> Bool? {
        let question = ControllerQuestion(adapterIndex, UInt16(CBLUEZ_READ_RSSI), within: RadioLimits.controllerSilence)
        // Whoever it was that asked: it answers.
        switch await question.ask(poller, { cbluez_hci_request_rssi($0, handle) }, isAnswered: { _ in true }) {
        case .answer: return true
        case .silence: return Task.isCancelled ? nil : false
        case .notAsked: return nil
        }
    }
}
