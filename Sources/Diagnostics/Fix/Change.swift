// SPDX-License-Identifier: Apache-2.0

import BLETransport
import FoundationEssentials

/// What a configuration leaves in the kernel for an adapter: bluetoothd sets it at its start and never takes it back.
public struct AdapterTrace: Hashable, Sendable, Codable {
    /// `hci0` and so on.
    public var adapter: String
    /// What it had before.
    public var before: AdapterDefaults
    /// What it has then.
    public var after: AdapterDefaults
}

/// Something of the device that is to have other bytes: a file, a program's capabilities, a radio's switch. What was there
/// is kept, so that it can be put back byte for byte.
public struct ContentChange: Hashable, Sendable, Codable {
    /// Where the bytes are.
    public enum Store: String, Hashable, Sendable, Codable {
        /// A file, which is replaced as a whole.
        case file
        /// The capabilities of a program's file.
        case capability
        /// A file of the kernel, which is written to.
        case kernel
    }

    /// What has to follow, so that it counts.
    public enum Effect: String, Hashable, Sendable, Codable {
        /// Nothing: it counts at once.
        case atOnce
        /// bluetoothd is started again.
        case restart
        /// systemd reads its units again, and bluetoothd is started again.
        case reload
    }

    /// Where the bytes are.
    public var store: Store
    /// The file's path.
    public var path: String
    /// What was there; nil for nothing.
    public var before: Data?
    /// What is to be there.
    public var after: Data
    /// What has to follow.
    public var effect = Effect.atOnce
    /// What the kernel keeps of it, whatever is in the file later.
    public var adapters: [AdapterTrace]?

    /// What is to be done to take the change back.
    enum TakingBack: Hashable {
        /// What was there is put back.
        case restore
        /// It is as it was before: nothing.
        case isDone
        /// Somebody else has changed it since: nothing.
        case leaveAlone
    }

    /// Decides by what is there now.
    func takingBack(now: Data?) -> TakingBack {
        now == after ? .restore : now == before ? .isDone : .leaveAlone
    }
}

/// A change that repairs or improves something, to be shown to a person before it is made.
public struct Change: Hashable, Sendable {
    /// What is done.
    public enum Action: Hashable, Sendable {
        /// Something gets other bytes.
        case content(ContentChange)
        /// A program is run, and another takes that back; nil where nothing does.
        case command([String], undo: [String]?)
        /// bluetoothd is started again, after systemd has read its units again where it has to.
        case restart(needsReload: Bool)
    }

    /// What is done.
    public var action: Action
    /// The findings that it is for.
    public var reasons: [Finding.Code]
    /// It in a sentence without its full stop: "Add 5 lines to /etc/bluetooth/main.conf".
    public var title: String
    /// What exactly: lines that are added, a command, a line each.
    public var details: [String]

    /// The words of programs that do it, one program each; none where no program is run.
    public var commands: [[String]] {
        switch action {
        case .content: []
        case .command(let words, _): [words]
        case .restart(let needsReload):
            (needsReload ? [["systemctl", "daemon-reload"]] : []) + [["systemctl", "restart", "bluetooth"]]
        }
    }

    /// Whether bluetoothd and its adapters need a moment after it.
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

    /// A restart, once for all that needs one.
    static func restart(needsReload: Bool, for reasons: [Finding.Code]) -> Self {
        Self(
            .restart(needsReload: needsReload), for: reasons,
            "Restart bluetoothd; what is connected over it is lost for a moment")
    }
}

extension Change {
    /// The change as a person reads it in a list, a line each.
    public func lines(number: Int) -> [String] {
        let margin = String(repeating: " ", count: 7)
        return ["  \(number). \(title)."] + details.map { margin + $0 }
    }
}
