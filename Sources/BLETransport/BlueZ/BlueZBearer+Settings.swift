// SPDX-License-Identifier: Apache-2.0

import Bearers
import CBlueZ
import MeshProtocol

/// A radio's policy for the kernel's settings of its adapter.
public struct AdapterSettingsPolicy: Sendable {
    /// Whether the radio changes the settings.
    public var choice: AdapterSettingsChoice
    /// The folder that records the former values, the same for all nodes of a user. It must not survive a restart of
    /// the system.
    public var folder: String

    /// A policy.
    public init(_ choice: AdapterSettingsChoice, folder: String) {
        (self.choice, self.folder) = (choice, folder)
    }

    /// Leaves the settings as they are.
    public static let leave = Self(.leave, folder: "")
}

/// An adapter's settings while this node uses it.
struct HeldSettings {
    /// Nil if no record can be kept.
    var record: SettingsRecord?
    var hasShare = false
    /// The devices that were dialled with these settings. The kernel keeps the settings for each.
    var dialled: [BearerEndpoint] = []
    /// The adapter's settings when they were last read.
    var current: AdapterSettings?
    /// The timing that was last reported.
    var told: AdapterTiming?
}

/// Performs the actions of `SettingsKeeper`.
extension BlueZBearer {
    private var keeper: SettingsKeeper { SettingsKeeper(settingsPolicy.choice) }

    /// Applies the settings that this node needs, if it may. It runs before each advertisement and dial, since
    /// bluetoothd or a dongle that was plugged in again may have replaced them.
    func applySettings() {
        guard var current = AdapterSettings.read(of: adapter.index) else { return }
        if permissions.mayAdminister, let record = heldRecord() {
            let (keeper, pace) = (keeper, wantedAdvertisement?.1 ?? .fast)
            held.hasShare = settle(&current, record) { keeper.use($0, pace: pace) }
        }
        held.current = current
        tellTiming()
    }

    /// Finds out whether the running bluetoothd passes on a node's own advertising interval, then reports the timing.
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

    /// Applies the settings before a dial. The kernel stores the intervals of each device that was dialled once or has
    /// since requested others, and would use these stored intervals.
    func applySettings(toDialOf peer: BearerEndpoint) {
        applySettings()
        guard settingsPolicy.choice == .set, held.hasShare else { return }
        AdapterSettings.ofNode(.fast).load(for: peer, on: adapter.index)
        held.dialled.removeAll { $0.address == peer.address }
        held.dialled.append(peer)
        if held.dialled.count > RadioLimits.dialledPeers { held.dialled.removeFirst() }
    }

    /// A guest reports the time that it needed to find this adapter.
    func found(within time: DialTime) {
        guard found.told(time) else { return }
        if foundRecord == nil, !settingsPolicy.folder.isEmpty {
            foundRecord = FoundRecord(folder: settingsPolicy.folder, address: adapter.address.address)
        }
        foundRecord?.write(time)
        applySettings()
    }

    /// bluetoothd or the adapter has been replaced. Earlier reports about it do not count.
    func forgetWhatWasFound() {
        found = DialTimes()
        foundRecord = nil
    }

    /// Restores the adapter's former settings if no other node uses it.
    func returnSettings() {
        defer { held = HeldSettings() }
        // If the settings cannot be read, the adapter is gone, and its settings with it.
        guard held.hasShare, let record = held.record, let before = AdapterSettings.read(of: adapter.index) else {
            return
        }
        var current = before
        _ = settle(&current, record, by: keeper.leave)
        guard current != before else { return }
        // Since Linux 6.12 this would change an existing link, and a guest that comes back at once continues on that
        // link.
        for peer in held.dialled where !isLinked(to: peer) { current.load(for: peer, on: adapter.index) }
    }

    /// Reads the kernel's state: bluetoothd reports a link about 200 ms after it is up.
    private func isLinked(to peer: BearerEndpoint) -> Bool {
        var address = peer.kernelAddress
        return cbluez_hci_link_handle(adapter.index, &address) >= 0
    }

    private func heldRecord() -> SettingsRecord? {
        // A node that leaves the settings checks once for values that a crashed node has left.
        guard settingsPolicy.choice == .set || held.told == nil, !settingsPolicy.folder.isEmpty else { return nil }
        if held.record == nil {
            held.record = SettingsRecord(folder: settingsPolicy.folder, address: adapter.address.address)
        }
        return held.record
    }

    /// Performs the actions that `decide` returns for the current and the recorded settings, while no other node starts
    /// or ends on the adapter. `current` becomes the new settings. Returns false if another node is starting or ending.
    private func settle(
        _ current: inout AdapterSettings, _ record: SettingsRecord,
        by decide: (SettingsKeeper.Found) -> [SettingsKeeper.Action]
    ) -> Bool {
        guard let isAlone = record.lock() else { return false }
        let found = SettingsKeeper.Found(current: current, recorded: record.former, isAlone: isAlone)
        perform(decide(found), &current, record)
        if current != found.current { logger.info("\(adapter.name) is set to \(current)") }
        return record.share()
    }

    private func perform(
        _ actions: [SettingsKeeper.Action], _ current: inout AdapterSettings, _ record: SettingsRecord
    ) {
        for action in actions {
            switch action {
            case .record(let former):
                // Do not replace a value that could not be restored later.
                guard record.record(former) else { return }
            case .set(let wanted):
                guard wanted.set(on: adapter.index) else { return }
                current = wanted
            case .eraseRecord: record.erase()
            }
        }
    }
}
