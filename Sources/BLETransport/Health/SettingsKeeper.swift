// SPDX-License-Identifier: Apache-2.0

/// Decides what an adapter is set to while a node uses it, and what it is set to afterwards: what was found goes in, actions come
/// out.
///
/// Former values are recorded before they are replaced, in a place that outlives this process, so that after a crash the next
/// node on that adapter puts them back. Several nodes may use one adapter: the last of them puts the values back. Values that
/// are neither ours nor the record's are somebody's who has set them meanwhile, or the kernel's own on an adapter that was
/// pulled out and put back: they are the former ones from then on.
struct SettingsKeeper: Sendable {
    /// What was found.
    struct Found: Hashable, Sendable {
        /// What the adapter is set to.
        var current: AdapterSettings
        /// The former values, as they are recorded.
        var recorded: AdapterSettings?
        /// No other node uses this adapter.
        var isAlone: Bool
    }

    /// What is to be done, in this order.
    enum Action: Hashable, Sendable {
        case record(AdapterSettings)
        case set(AdapterSettings)
        case eraseRecord
    }

    private let choice: AdapterSettingsChoice

    init(_ choice: AdapterSettingsChoice) { self.choice = choice }

    /// A node uses the adapter, and advertises at this pace.
    func use(_ found: Found, pace: AdvertisingPace) -> [Action] {
        guard choice == .set else { return found.isAlone ? giveBack(found) : [] }
        let wanted = AdapterSettings.ofNode(pace)
        var actions: [Action] = []
        if !found.current.isOfNode, found.current != found.recorded { actions.append(.record(found.current)) }
        if found.current != wanted { actions.append(.set(wanted)) }
        return actions
    }

    /// The node uses it no more.
    func leave(_ found: Found) -> [Action] {
        // Somebody else's node still needs them.
        guard found.isAlone else { return [] }
        return giveBack(found)
    }

    private func giveBack(_ found: Found) -> [Action] {
        guard let former = found.recorded else { return [] }
        return found.current.isOfNode && former != found.current ? [.set(former), .eraseRecord] : [.eraseRecord]
    }
}
