// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Glibc
import MeshProtocol
import NodeCore
import NodeStore
import ServiceLifecycle

/// Further completions of a shell, in addition to commands, options and files. They use the state folder of the line.
extension CompletionKind {
    /// Hosts that were heard on this device before.
    static let heardHosts = custom { words, _, _ in
        let names = HeardHosts(folder(words))?.names ?? []
        // These names come from other devices. bash expands them (compgen -W), and zsh treats the text after a colon as
        // a description (_describe).
        let shell = CompletionShell.requesting
        return shell == .bash ? names.map(quoted) : shell == .zsh ? names.map(escaped) : names
    }
    /// Recorded drives.
    static let drives = custom { words, _, _ in
        let drives = (try? folder(words).flatMap { try DriveStore.read(in: $0)?.drives() }) ?? []
        return drives.map { String($0.number) } + (drives.isEmpty ? [] : ["last"])
    }
    /// Bluetooth adapters of this device.
    static let adapters = custom { _, _, _ in
        (try? FileManager.default.contentsOfDirectory(atPath: "/sys/class/bluetooth"))?.filter {
            $0.hasPrefix("hci") && !$0.contains(":")
        } ?? []
    }

    private static func quoted(_ name: String) -> String {
        "'" + name.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    private static func escaped(_ name: String) -> String {
        name.replacing("\\", with: "\\\\").replacing(":", with: "\\:")
    }

    /// The state folder of a line. `words` are unexpanded.
    private static func folder(_ words: [String]) -> String? { try? NodeOptions.statePath(named(words)) }

    /// The last value of --state in the line; nil without a value.
    private static func named(_ words: [String]) -> String? {
        let option = "--state"
        guard let place = words.lastIndex(where: { $0 == option || $0.hasPrefix(option + "=") }) else { return nil }
        // bash splits words at "=".
        let isSplit = words[place...].dropFirst().first == "="
        let value: String? =
            if words[place] != option {
                String(words[place].dropFirst(option.count + 1))
            } else if isSplit {
                words[place...].dropFirst(2).first
            } else {
                words[place...].dropFirst().first.map(expanded)
            }
        return value == "" ? nil : value
    }

    /// Expands a leading "~/", as shells do when they run the line.
    private static func expanded(_ word: String) -> String {
        guard word.hasPrefix("~/"), let home = ProcessInfo.processInfo.environment["HOME"] else { return word }
        return home + String(word.dropFirst())
    }
}

/// The names of the hosts that were heard on this device, latest first: a file of the state folder, one line each. It
/// is only for completion, so a failed write is not reported.
struct HeardHosts {
    private let file: URL

    /// The names in a folder; nil without a folder.
    init?(_ folder: String?) {
        guard let folder, NodeOptions.isFolder(folder) else { return nil }
        file = URL(filePath: folder + "/heard")
    }

    /// The names.
    var names: [String] {
        // Reading a pipe in its place would block.
        var status = stat()
        guard stat(file.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= Self.mostBytes,
            let text = try? String(contentsOf: file, encoding: .utf8)
        else { return [] }
        return text.split(separator: "\n").map(String.init)
    }

    /// Maximum number of completed names: as many as a person reads through.
    private static let limit = 32
    /// The maximum size of the names in bytes, including line ends.
    private static let mostBytes = limit * (Limits.nameBytes + 1)

    /// Adds a host that was heard.
    func add(_ host: Peer) {
        let name = UntrustedText.shown(host.name)
        let before = names
        guard !name.isEmpty, before.first != name else { return }
        let names = ([name] + before.filter { $0 != name }).prefix(Self.limit)
        try? Data(names.map { $0 + "\n" }.joined().utf8).write(to: file, options: .atomic)
    }
}

/// Records the hosts that a guest hears.
struct Listener: Service {
    let events: AsyncStream<NodeEvent>
    let heard: HeardHosts

    func run() async {
        // A relay may have cut the name.
        for await case .peerDiscovered(let node) in events where node.relay == nil { heard.add(node.host) }
    }
}
