// SPDX-License-Identifier: Apache-2.0

import Bearers
import CBlueZ
import FoundationEssentials
import Glibc
import Subprocess

/// A running bluetoothd.
public struct DaemonFacts: Hashable, Sendable {
    /// The path of bluetoothd, if it is in one of the usual folders.
    public var path: String?
    /// For example `5.66`.
    public var version: DaemonVersion?
    /// Whether bluetoothd's experimental interfaces are on, by its command line or its configuration.
    public var isExperimental: Bool
    /// Plugins that its command line excludes.
    public var leavesOut: [String] = []
    /// Whether bluetoothd reads the GATT services of every device that links, which is the default.
    public var looksThroughDevices = false
    /// The path of bluetoothd's configuration file.
    public var configuration = Self.standardConfiguration
    /// The arguments of bluetoothd's process, without the name of the program.
    public var arguments: [String] = []

    /// Whether bluetoothd passes a node's own advertising interval to the kernel. It does this since 5.77. Earlier
    /// versions do it if experimental interfaces are on, except three versions.
    public var passesIntervalsOn: Bool {
        guard let version else { return isExperimental }
        if version >= DaemonVersion(5, 77) { return true }
        return isExperimental && !(DaemonVersion(5, 72)...DaemonVersion(5, 74)).contains(version)
    }

    /// The configuration file of a bluetoothd without one on its command line.
    public static let standardConfiguration = "/etc/bluetooth/main.conf"
}

/// BlueZ's version.
public struct DaemonVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// 5 in `5.66`.
    public var major: Int
    /// 66 in `5.66`.
    public var minor: Int

    /// A version.
    public init(_ major: Int, _ minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// Reads the output of `bluetoothd --version`. Nil if this is not a version.
    public init?(_ text: some StringProtocol) {
        let numbers = String(text).split { $0 == "." || $0.isWhitespace }.map { Int($0) }
        guard numbers.count >= 2, let major = numbers[0], let minor = numbers[1] else { return nil }
        self.init(major, minor)
    }

    /// `5.66`
    public var description: String { "\(major).\(minor)" }

    /// An older version is smaller.
    public static func < (one: Self, other: Self) -> Bool { (one.major, one.minor) < (other.major, other.minor) }
}

/// D-Bus shows the process of bluetoothd, but not its version (5.66), nor how it was started. These facts come from the
/// process.
extension DaemonFacts {
    /// The paths that distributions use.
    private static let usualPaths = [
        "/usr/libexec/bluetooth/bluetoothd", "/usr/lib/bluetooth/bluetoothd", "/usr/sbin/bluetoothd",
    ]

    /// The bluetoothd that owns its name on the message bus, or nil. Any process can call itself bluetoothd.
    static func running() async -> Self? {
        var (process, user): (pid_t, uid_t) = (0, .max)
        let limit = Int32(RadioLimits.programAnswer.components.seconds * 1_000)
        guard cbluez_bus_process_of_bluez(nil, limit, &process, &user) == 0, user == 0 else { return nil }
        return await of(process)
    }

    /// The facts in the command line of a process. It ignores files and programs that a user other than root can
    /// replace.
    static func of(_ number: Int32, in processes: String = "/proc", trusting isTrusted: (String) -> Bool = isRootsAlone)
        async -> Self?
    {
        let process = "\(processes)/\(number)"
        guard belongsToRoot(process), let text = SystemFile.text(process + "/cmdline") else { return nil }
        let arguments = text.split(separator: "\0").map(String.init)
        var facts = Self(arguments: arguments) { isTrusted($0) ? SystemFile.text($0) : nil }
        let path = program(link: SystemFile.link(process + "/exe"), argument: arguments.first)
        guard let path, isTrusted(path) else { return facts }
        (facts.path, facts.version) = (path, await version(of: path))
        return facts
    }

    private static func isRootsAlone(_ path: String) -> Bool { TrustedPath.refusal(of: path) == nil }

    /// The installed bluetoothd, for a process that cannot see the running one. Nil if it is not in a usual folder.
    static func installed() async -> Self? {
        guard let path = usualPaths.first(where: { access($0, X_OK) == 0 }) else { return nil }
        var facts = Self(arguments: []) { SystemFile.text($0) }
        (facts.path, facts.version) = (path, await version(of: path))
        return facts
    }

    /// The running program, to ask for its version. The kernel's link is reliable, but only root can read it. A
    /// process's own name counts only if it is one of the usual paths. Without a name, the first usual path counts.
    static func program(link: String?, argument: String?) -> String? {
        // An update has replaced the program, so the file there is not the running one.
        if let link { return link.hasSuffix(" (deleted)") ? nil : link }
        guard let argument, argument.hasPrefix("/") else { return usualPaths.first { access($0, X_OK) == 0 } }
        return usualPaths.first { $0 == argument }
    }

    /// The facts in a command line. `read` returns the text of a configuration file.
    init(arguments: [String], read: (String) -> String?) {
        var words = DaemonArguments()
        for argument in arguments.dropFirst() { words.take(argument) }
        let configuration = words.configuration ?? Self.standardConfiguration
        let text = read(configuration) ?? ""
        self.init(
            isExperimental: words.isExperimental || Self.says(["experimental=true"], in: text),
            leavesOut: words.leavesOut,
            looksThroughDevices: !Self.says(["reverseservicediscovery=false", "reverseservicediscovery=0"], in: text),
            configuration: configuration, arguments: Array(arguments.dropFirst()))
    }

    /// Whether one of these settings is in the section `[General]` (main.conf of BlueZ).
    private static func says(_ settings: Set<String>, in text: String) -> Bool {
        var section = Substring()
        for line in text.split(separator: "\n") {
            let words = line.filter { !$0.isWhitespace }.lowercased()
            if words.hasPrefix("[") { section = Substring(words) }
            if section == "[general]", settings.contains(words) { return true }
        }
        return false
    }

    /// Whether root has started a process.
    private static func belongsToRoot(_ process: String) -> Bool {
        var status = stat()
        return stat(process, &status) == 0 && status.st_uid == 0
    }

    private static func version(of path: String?) async -> DaemonVersion? {
        guard let path else { return nil }
        let asked = Task { () -> DaemonVersion? in
            let result = try? await Subprocess.run(
                .path(.init(path)), arguments: ["--version"], input: .none, output: .string(limit: 256),
                error: .discarded)
            return (result?.standardOutput).flatMap { DaemonVersion($0) }
        }
        let alarm = Task {
            try await Task.sleep(for: RadioLimits.programAnswer)
            asked.cancel()
        }
        defer { alarm.cancel() }
        return await asked.value
    }
}

/// Parses bluetoothd's command line (src/main.c), one word after another.
struct DaemonArguments {
    var isExperimental = false
    var leavesOut: [String] = []
    var configuration: String?
    private var awaited: Character?

    /// Options that take a value.
    private static let valued: [String: Character] = ["--noplugin": "P", "--configfile": "f"]

    mutating func take(_ word: String) {
        if let option = awaited {
            awaited = nil
            keep(word, option)
        } else if word.hasPrefix("--") {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            if parts[0] == "--experimental" { isExperimental = true }
            guard let option = Self.valued[parts[0]] else { return }
            if parts.count == 2 { keep(parts[1], option) } else { awaited = option }
        } else if word.hasPrefix("-") {
            takeLetters(word.dropFirst())
        }
    }

    private mutating func takeLetters(_ letters: Substring) {
        for (index, letter) in zip(letters.indices, letters) {
            if letter == "E" { isExperimental = true }
            // The rest of the word, or the next word, is the value.
            guard "Pfpd".contains(letter) else { continue }
            let value = letters[letters.index(after: index)...]
            if !value.isEmpty { keep(String(value), letter) } else if letter != "d" { awaited = letter }
            return
        }
    }

    private mutating func keep(_ value: String, _ option: Character) {
        switch option {
        case "P": leavesOut += value.split(separator: ",").map(String.init)
        case "f": configuration = value
        default: break
        }
    }
}
