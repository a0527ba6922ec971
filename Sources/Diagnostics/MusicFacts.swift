// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// Facts about the player and the music of a host.
public struct MusicFacts: Hashable, Sendable {
    /// The state of mpv.
    public enum Player: Hashable, Sendable {
        /// mpv is not installed.
        case isMissing
        /// mpv is installed, but does not run, with the reason.
        case fails(String)
        /// mpv runs, with the numbers of its version; empty if they are unknown.
        case runs(version: [Int])
    }

    /// The state of the music folder.
    public enum Library: Hashable, Sendable {
        /// The folder does not exist.
        case isMissing
        /// The folder cannot be read, with the system's error text.
        case isUnreadable(String)
        /// The folder exists, with the number of playable files, and the number of files and folders that this user may
        /// not read.
        case isThere(songs: Int, unreadable: Int)
    }

    /// The state of mpv.
    public var player: Player
    /// The audio devices, by mpv's names for them.
    public var devices: [String] = []
    /// The audio device that the person has chosen; nil for mpv's own choice.
    public var wantedDevice: String?
    /// The music folder and its state; nil without a music folder.
    public var library: (path: String, state: Library)? {
        get { folder.map { ($0.path, $0.state) } }
        set { folder = newValue.map { Folder(path: $0.path, state: $0.state) } }
    }
    /// Whether a host with music runs or has run on this device. A guest needs no music.
    public var isHost: Bool

    private struct Folder: Hashable, Sendable {
        var path: String
        var state: Library
    }

    private var folder: Folder?

    /// The facts.
    public init(player: Player, isHost: Bool = false) {
        (self.player, self.isHost) = (player, isHost)
    }

    /// Asks mpv for its version and its audio devices, if it is installed.
    public static func collect(hasPlayer: Bool, isHost: Bool) async -> MusicFacts {
        guard hasPlayer else { return MusicFacts(player: .isMissing, isHost: isHost) }
        switch await SystemCommand(["mpv", "--no-config", "--version"]).run(within: FixLimits.player) {
        case .failed(let cause): return MusicFacts(player: .fails(cause), isHost: isHost)
        case .done(let text):
            var facts = MusicFacts(player: .runs(version: version(text)), isHost: isHost)
            if case .done(let list) = await SystemCommand(["mpv", "--no-config", "--audio-device=help"]).run(
                within: FixLimits.player)
            {
                facts.devices = Self.devices(list)
            }
            return facts
        }
    }

    /// Parses the version numbers of a text such as `mpv 0.35.1 Copyright …`.
    static func version(_ text: String) -> [Int] {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.first == "mpv", words.count > 1 else { return [] }
        let number = words[1].drop { $0 == "v" }.prefix { $0.isNumber || $0 == "." }
        return number.split(separator: ".").compactMap { Int($0) }
    }

    /// Parses the names in mpv's list of devices, such as `  'alsa/sysdefault:CARD=PCH' (HDA Intel PCH)`.
    static func devices(_ text: String) -> [String] {
        text.split(whereSeparator: \.isNewline).compactMap { line in
            let parts = line.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
            return parts.count == 3 && parts[0].allSatisfy(\.isWhitespace) ? String(parts[1]) : nil
        }
    }

    /// Whether one of the devices is a loudspeaker or a connector for a loudspeaker. mpv lists a default device for
    /// each driver even if the driver has no device. A sound server without a device lists a dummy.
    var hasLoudspeaker: Bool {
        devices.contains { name in
            name.contains("CARD=")
                || ["pulse/", "pipewire/"].contains { name.hasPrefix($0) && name != $0 + "auto_null" }
        }
    }
}

/// Facts about how phones reach a page of this device.
public struct PhoneFacts: Hashable, Sendable {
    /// The state of a firewall.
    public enum Firewall: Hashable, Sendable {
        /// No firewall, or a firewall that allows every connection.
        case open
        /// This firewall refuses connections that no rule allows.
        case filters(String)
        /// Only root can check it.
        case unknown
    }

    /// This device's address in a network that phones can join; nil without such a network.
    public var address: String?
    /// The port of the page.
    public var port: Int
    /// Whether that port is free, or used by a node of this state folder.
    public var isPortFree: Bool
    /// The firewall.
    public var firewall: Firewall
    /// Whether a host runs or has run on this device.
    public var isHost: Bool

    /// The facts.
    public init(address: String?, port: Int, isPortFree: Bool = true, firewall: Firewall = .open, isHost: Bool = false)
    {
        (self.address, self.port, self.isPortFree) = (address, port, isPortFree)
        (self.firewall, self.isHost) = (firewall, isHost)
    }
}

extension PhoneFacts.Firewall {
    /// Returns the state of this device's firewall, as far as this user can detect it.
    public static func now() async -> Self {
        let settings = FileManager.default.contents(atPath: "/etc/ufw/ufw.conf").map {
            String(decoding: $0, as: UTF8.self)
        }
        if let settings, isUFWOn(settings) { return .filters("ufw") }
        if await SystemCommand(["systemctl", "is-active", "firewalld"]).answer() == "active" {
            return .filters("firewalld")
        }
        guard geteuid() == 0 else { return .unknown }
        guard case .done(let chains) = await SystemCommand(["nft", "list", "chains"]).run(within: FixLimits.player)
        else { return .unknown }
        return drops(chains) ? .filters("nftables") : .open
    }

    /// Whether ufw is on according to its settings.
    static func isUFWOn(_ settings: String) -> Bool {
        settings.split(whereSeparator: \.isNewline).contains { line in
            line.filter { !$0.isWhitespace }.lowercased() == "enabled=yes"
        }
    }

    /// Whether a chain for incoming packets drops packets that no rule accepts, according to nft's list.
    static func drops(_ chains: String) -> Bool {
        chains.split(whereSeparator: \.isNewline).contains { $0.contains("hook input") && $0.contains("policy drop") }
    }
}
