// SPDX-License-Identifier: Apache-2.0

import BLETransport
import FoundationEssentials

/// Values that a configuration has set in the kernel for an adapter. bluetoothd sets them when it starts, and never
/// restores the former values.
public struct AdapterTrace: Hashable, Sendable, Codable {
    /// `hci0` and so on.
    public var adapter: String
    /// The former values.
    public var before: AdapterDefaults
    /// The new values.
    public var after: AdapterDefaults
}

/// New bytes for a file, a program's capabilities or a radio's switch. The former bytes are stored, so that they can be
/// restored exactly.
public struct ContentChange: Hashable, Sendable, Codable {
    /// The kind of place.
    public enum Store: String, Hashable, Sendable, Codable {
        /// A file, which is replaced completely.
        case file
        /// The capabilities of a program's file.
        case capability
        /// A file of the kernel, which is written to.
        case kernel
    }

    /// What must follow for the change to take effect.
    public enum Effect: String, Hashable, Sendable, Codable {
        /// Nothing: the change takes effect at once.
        case atOnce
        /// bluetoothd must be restarted.
        case restart
        /// systemd must read its units again, and bluetoothd must be restarted.
        case reload
    }

    /// The kind of place.
    public var store: Store
    /// The file's path.
    public var path: String
    /// The former bytes; nil if there were none.
    public var before: Data?
    /// The new bytes.
    public var after: Data
    /// What must follow.
    public var effect = Effect.atOnce
    /// Values that stay in the kernel, even if the file is changed back.
    public var adapters: [AdapterTrace]?

    /// How to undo the change.
    enum TakingBack: Hashable {
        /// Restore the former bytes.
        case restore
        /// Do nothing: the former bytes are there already.
        case isDone
        /// Do nothing: another program or person has changed the place since.
        case leaveAlone
    }

    /// Decides from the current bytes how to undo the change.
    func takingBack(now: Data?) -> TakingBack {
        now == after ? .restore : now == before ? .isDone : .leaveAlone
    }
}

/// A change that repairs or improves something. A person sees it before it is made.
public struct Change: Hashable, Sendable {
    /// An action.
    public enum Action: Hashable, Sendable {
        /// Write new bytes.
        case content(ContentChange)
        /// Run a program; `undo` is the program that undoes it, or nil.
        case command([String], undo: [String]?)
        /// Restart bluetoothd. With `needsReload`, systemd must read its units again before.
        case restart(needsReload: Bool)
    }

    /// The action.
    public var action: Action
    /// The findings that the change repairs.
    public var reasons: [Finding.Code]
    /// The title, a sentence without its full stop: "Add 5 lines to /etc/bluetooth/main.conf".
    public var title: String
    /// The details, one per line: lines that are added, or a command.
    public var details: [String]

    /// The commands that make the change; empty if no program runs.
    public var commands: [[String]] {
        switch action {
        case .content: []
        case .command(let words, _): [words]
        case .restart(let needsReload):
            (needsReload ? [["systemctl", "daemon-reload"]] : []) + [["systemctl", "restart", "bluetooth"]]
        }
    }

    /// Whether bluetoothd and its adapters need time to settle after the change.
    public var unsettles: Bool {
        switch action {
        case .content(let change): change.store == .kernel
        case .command, .restart: true
        }
    }

    init(_ action: Action, for reasons: [Finding.Code], _ title: String, details: [String] = []) {
        self.action = action
        self.reasons = reasons
        self.title = title
        self.details = details
        if details.isEmpty { self.details = commands.map { $0.joined(separator: " ") } }
    }

    /// A single restart for all findings that need a restart.
    static func restart(needsReload: Bool, for reasons: [Finding.Code]) -> Self {
        Self(
            .restart(needsReload: needsReload), for: reasons,
            "Restart bluetoothd; its connections are lost for a few seconds")
    }
}

extension Change {
    /// The change as lines of a list for a person.
    public func lines(number: Int) -> [String] {
        let margin = String(repeating: " ", count: 7)
        return ["  \(number). \(title)."] + details.map { margin + $0 }
    }
}
