// SPDX-License-Identifier: Apache-2.0

import Bearers

/// Decides the settings of an adapter while a node uses it and afterwards: the settings that were found go in, actions
/// come out.
///
/// Former values are recorded before they are replaced, in a file that outlives this process. After a crash, the next
/// node on the adapter restores them. Several nodes may use one adapter; the last of them restores the values. Values
/// that are neither ours nor the record's come from another program, or from the kernel if the adapter was unplugged
/// and plugged in again. They count as the former values from then on.
struct SettingsKeeper: Sendable {
    /// What was found.
    struct Found: Hashable, Sendable {
        /// The adapter's current settings.
        var current: AdapterSettings
        /// The recorded former values.
        var recorded: AdapterSettings?
        /// No other node uses this adapter.
        var isAlone: Bool
    }

    /// What to do, in this order.
    enum Action: Hashable, Sendable {
        case record(AdapterSettings)
        case set(AdapterSettings)
        case eraseRecord
    }

    private let choice: AdapterSettingsChoice

    init(_ choice: AdapterSettingsChoice) { self.choice = choice }

    /// A node starts to use the adapter, and advertises at this pace.
    func use(_ found: Found, pace: AdvertisingPace) -> [Action] {
        guard choice == .set else { return found.isAlone ? giveBack(found) : [] }
        let wanted = AdapterSettings.ofNode(pace)
        var actions: [Action] = []
        if !found.current.isOfNode, found.current != found.recorded { actions.append(.record(found.current)) }
        if found.current != wanted { actions.append(.set(wanted)) }
        return actions
    }

    /// The node stops using the adapter.
    func leave(_ found: Found) -> [Action] {
        // Another node still needs the settings.
        guard found.isAlone else { return [] }
        return giveBack(found)
    }

    private func giveBack(_ found: Found) -> [Action] {
        guard let former = found.recorded else { return [] }
        return found.current.isOfNode && former != found.current ? [.set(former), .eraseRecord] : [.eraseRecord]
    }
}
