// SPDX-License-Identifier: Apache-2.0

import CBlueZ
import MeshProtocol

/// How a radio treats what the kernel uses on its adapter.
public struct AdapterSettingsPolicy: Sendable {
    /// Whether it sets it.
    public var choice: AdapterSettingsChoice
    /// Where former values are recorded, one place for all nodes of a user. It is not to outlive this run of the system.
    public var folder: String

    /// A policy.
    public init(_ choice: AdapterSettingsChoice, folder: String) {
        (self.choice, self.folder) = (choice, folder)
    }

    /// Hands off.
    public static let leave = Self(.leave, folder: "")
}

/// An adapter's settings while this node uses it.
struct HeldSettings {
    /// Nil where none can be kept.
    var record: SettingsRecord?
    var hasShare = false
    /// Who was dialled with them: the kernel keeps that.
    var dialled: [RadioEndpoint] = []
    /// The adapter's settings when they were last read.
    var current: AdapterSettings?
    /// What was told of it last.
    var told: AdapterTiming?
}

/// Performs what `SettingsKeeper` decides.
extension BlueZRadio {
    private var keeper: SettingsKeeper { SettingsKeeper(settingsPolicy.choice) }

    /// Sees to it that the adapter has what this node needs, where it may: before anything is advertised or dialled, since
    /// bluetoothd, or a dongle that was put back, may have replaced it.
    func applySettings() {
        guard var current = AdapterSettings.read(of: adapter.index) else { return }
        if permissions.mayAdminister, let record = heldRecord() {
            let (keeper, pace) = (keeper, wantedAdvertisement?.1 ?? .fast)
            held.hasShare = settle(&current, record) { keeper.use($0, pace: pace) }
        }
        held.current = current
        tellTiming()
    }

    /// Finds out whether the running bluetoothd passes a node's own advertising interval on, then reports the timing.
    func lookAtService() {
        lookingAtService?.cancel()
        lookingAtService = Task {
            let daemon = await DaemonFacts.running()
            let facts = if let daemon { daemon } else { await DaemonFacts.installed() }
            guard !Task.isCancelled, !isClosed else { return }
            passesIntervalsOn = facts?.passesIntervalsOn ?? false
            tellTiming()
        }
    }

    private func tellTiming() {
        guard let current = held.current, let passesIntervalsOn else { return }
        var timing = current.timing(isOfNode: settingsPolicy.choice == .set && held.hasShare && current.isOfNode)
        if passesIntervalsOn, advertisingRoute.way == .service {
            let own = (wantedAdvertisement?.1 ?? .fast).milliseconds
            timing.advertising = Double(own.lowerBound)...Double(own.upperBound)
        }
        timing.foundWithin = found.least
        guard timing != held.told else { return }
        held.told = timing
        eventSink.yield(.timing(timing))
    }

    /// The same before a dial. The kernel keeps the intervals of each device that was dialled once, or has asked for others
    /// since, and would use those.
    func applySettings(toDialOf peer: RadioEndpoint) {
        applySettings()
        guard settingsPolicy.choice == .set, held.hasShare else { return }
        AdapterSettings.ofNode(.fast).load(for: peer, on: adapter.index)
        held.dialled.removeAll { $0.address == peer.address }
        held.dialled.append(peer)
        if held.dialled.count > RadioLimits.dialledPeers { held.dialled.removeFirst() }
    }

    /// A guest tells how soon it found this adapter.
    func found(within time: DialTime) {
        guard found.told(time) else { return }
        if foundRecord == nil, !settingsPolicy.folder.isEmpty {
            foundRecord = FoundRecord(folder: settingsPolicy.folder, address: adapter.address.address)
        }
        foundRecord?.write(time)
        applySettings()
    }

    /// bluetoothd or the adapter is another one now: what was said of it before does not count.
    func forgetWhatWasFound() {
        found = DialTimes()
        foundRecord = nil
    }

    /// Gives the adapter back what it had, where no other node uses it.
    func returnSettings() {
        defer { held = HeldSettings() }
        // Where it tells nothing, the adapter has gone, and its settings with it.
        guard held.hasShare, let record = held.record, let before = AdapterSettings.read(of: adapter.index) else {
            return
        }
        var current = before
        _ = settle(&current, record, by: keeper.leave)
        guard current != before else { return }
        // From Linux 6.12 on that would change a link that is up, which a guest that comes back at once goes on with.
        for peer in held.dialled where !isLinked(to: peer) { current.load(for: peer, on: adapter.index) }
    }

    /// By the kernel's word: bluetoothd reports a link some 200 ms after it is up.
    private func isLinked(to peer: RadioEndpoint) -> Bool {
        var address = peer.kernelAddress
        return cbluez_hci_link_handle(adapter.index, &address) >= 0
    }

    private func heldRecord() -> SettingsRecord? {
        // What nobody sets is looked at once: somebody may have crashed.
        guard settingsPolicy.choice == .set || held.told == nil, !settingsPolicy.folder.isEmpty else { return nil }
        if held.record == nil {
            held.record = SettingsRecord(folder: settingsPolicy.folder, address: adapter.address.address)
        }
        return held.record
    }

    /// Performs what is decided of what was found, while no other node starts or ends on the adapter; `current` is what it is set
    /// to afterwards. False where another one does so just now.
    private func settle(
        _ current: inout AdapterSettings, _ record: SettingsRecord,
        by decide: (SettingsKeeper.Found) -> [SettingsKeeper.Action]
    ) -> Bool {
        record.holding { isAlone in
            let found = SettingsKeeper.Found(current: current, recorded: record.former, isAlone: isAlone)
            perform(decide(found), &current, record)
            if current != found.current { logger.info("\(adapter.name) is set to \(current)") }
        }
    }

    private func perform(
        _ actions: [SettingsKeeper.Action], _ current: inout AdapterSettings, _ record: SettingsRecord
    ) {
        for action in actions {
            switch action {
            case .record(let former):
                // What could not be put back is not replaced.
                guard record.record(former) else { return }
            case .set(let wanted):
                guard wanted.set(on: adapter.index) else { return }
                current = wanted
            case .eraseRecord: record.erase()
            }
        }
    }
}
