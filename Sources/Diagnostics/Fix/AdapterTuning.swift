// SPDX-License-Identifier: Apache-2.0

import BLETransport
import Bearers
import FoundationEssentials

/// Settings of main.conf that belong together. If the user has set one setting of a group to another value, the whole
/// group stays unchanged, because the user has decided. Mixed values could also contradict each other: our shortest
/// interval could exceed the user's longest interval.
struct SettingGroup: Hashable {
    /// The settings to add.
    var settings: [KeyFileSetting]
    /// Settings that must have these values if they are set at all.
    var bounds: [KeyFileSetting] = []

    /// The advertising interval, in 0.625 ms: 20 to 30 ms.
    static let advertisingUnits: ClosedRange<UInt16> = 32...48
    /// The interval of links that the adapter dials, in 1.25 ms: the same as a node requests.
    static let linkUnits =
        UInt16(RadioLimits.dialledInterval.lowerBound)...UInt16(RadioLimits.dialledInterval.upperBound)
    /// The supervision timeout of links that the adapter dials, in 10 ms: the same as a node requests.
    static let supervisionUnits = UInt16(RadioLimits.tunedSupervision)

    /// The settings for the advertising interval.
    static let advertising = Self(settings: [
        KeyFileSetting("LE", "MinAdvertisementInterval", "\(advertisingUnits.lowerBound)"),
        KeyFileSetting("LE", "MaxAdvertisementInterval", "\(advertisingUnits.upperBound)"),
    ])
    /// The settings for links that the adapter dials. With a latency, a link would need a longer timeout (Core
    /// specification, Vol 4, Part E, 7.8.12).
    static let links = Self(
        settings: [
            KeyFileSetting("LE", "MinConnectionInterval", "\(linkUnits.lowerBound)"),
            KeyFileSetting("LE", "MaxConnectionInterval", "\(linkUnits.upperBound)"),
            KeyFileSetting("LE", "ConnectionSupervisionTimeout", "\(supervisionUnits)"),
        ], bounds: [KeyFileSetting("LE", "ConnectionLatency", "0")])
    /// The setting that stops bluetoothd from reading the services of linked phones. The phones would ask their owners
    /// to pair.
    static let phones = Self(settings: [KeyFileSetting("General", "ReverseServiceDiscovery", "false")])
    /// The setting with which bluetoothd switches adapters on when it finds them.
    static let enabling = Self(settings: [KeyFileSetting("Policy", "AutoEnable", "true")])
}

/// A configuration file with groups of settings added.
struct ConfigurationEdit: Hashable {
    /// The added settings, in the order of the groups.
    private(set) var added: [KeyFileSetting] = []
    /// Sentences about settings that the user has set to other values.
    private(set) var remarks: [String] = []
    /// The new contents of the file; nil if nothing is added.
    private(set) var result: Data?

    /// Decides which settings are added to a file.
    init(_ file: ConfigurationFile, groups: [SettingGroup]) {
        let before: Data
        switch file.found {
        case .nothing: before = Data()
        case .bytes(let bytes): before = bytes
        case .refused(let why):
            remarks = ["\(file.path) \(why): it is left alone."]
            return
        }
        do throws(KeyFile.Refusal) {
            let parsed = try KeyFile(Array(before))
            for group in groups { take(group, parsed, file.path) }
            guard !added.isEmpty else { return }
            let after = parsed.adding(added)
            // Checks the new contents by reading them as bluetoothd will.
            let written = try KeyFile(after)
            guard added.allSatisfy({ written.value(of: $0.key, in: $0.section) == $0.value }) else {
                preconditionFailure("a setting was not added where it takes effect")
            }
            result = Data(after)
        } catch {
            added = []
            remarks = ["\(file.path) \(error.text): it is left alone."]
        }
    }

    private mutating func take(_ group: SettingGroup, _ file: KeyFile, _ path: String) {
        let others = (group.settings + group.bounds).compactMap { wish -> String? in
            guard let value = file.value(of: wish.key, in: wish.section), !Self.isSame(value, wish.value) else {
                return nil
            }
            return
                "\(path) has \(wish.key)=\(value) in [\(wish.section)]. It was set on purpose, so it stays, with what "
                + "belongs to it."
        }
        remarks += others
        guard others.isEmpty else { return }
        added += group.settings.filter { file.value(of: $0.key, in: $0.section) == nil && !added.contains($0) }
    }

    /// Whether two values are equal for bluetoothd: numbers may be hexadecimal, and 1 is true.
    private static func isSame(_ one: String, _ other: String) -> Bool {
        func number(_ text: String) -> Int? {
            text.lowercased().hasPrefix("0x") ? Int(text.dropFirst(2), radix: 16) : Int(text)
        }
        if let number = number(one), number == Self.truth(other) ?? (Int(other) ?? .min) { return true }
        return one == other
    }

    private static func truth(_ text: String) -> Int? { text == "true" ? 1 : nil }

    /// The defaults of an adapter after bluetoothd has read the result.
    func defaults(from before: AdapterDefaults) -> AdapterDefaults {
        var defaults = before
        if added.contains(where: { $0.section == "LE" && $0.key.contains("Advertisement") }) {
            defaults = defaults.advertising(SettingGroup.advertisingUnits)
        }
        if added.contains(where: { $0.section == "LE" && $0.key.contains("Connection") }) {
            defaults = defaults.links(
                SettingGroup.linkUnits, supervisionTimeout: SettingGroup.supervisionUnits)
        }
        return defaults
    }

    /// The added lines as they are in the file: each section's name, and its lines.
    var lines: [String] {
        var lines: [String] = []
        var section: String?
        for setting in added {
            if setting.section != section { lines.append("[\(setting.section)]") }
            section = setting.section
            lines.append(setting.line)
        }
        return lines
    }
}
