// SPDX-License-Identifier: Apache-2.0

import Glibc
import NodeStore

/// The state folder with error sentences for the person who starts the node.
extension StateFolder {
    /// Opens the folder, and creates missing files in it. This process has exclusive use of the folder until it ends.
    public convenience init(path: String) throws(SetupProblem) {
        do {
            try self.init(opening: path)
        } catch {
            throw SetupProblem(.cannotCreate, Self.sentence(for: error))
        }
    }

    /// The default folder: `$XDG_STATE_HOME/roadmesh`, or `~/.local/state/roadmesh`.
    public static func defaultPath(environment: [String: String]) throws(SetupProblem) -> String {
        if let path = standardPath(environment: environment) { return path }
        throw SetupProblem(
            .cannotCreate, "There is no home folder for the node's identity; name a folder with --state.")
    }

    /// A remark about the folder for the person who starts the node; nil if there is nothing to say.
    public var remark: String? {
        guard wasReadableByOthers else { return nil }
        return
            "Other users of this device could read the identity in \(identityPath), and anyone with a copy can impersonate this "
            + "node. The file is protected now. If someone may have a copy, move the file away; the node then starts "
            + "with a new identity."
    }

    private static func sentence(for error: StateFolderError) -> String {
        switch error {
        case .cannotMake(let path):
            "Cannot make the state folder \(path); name a folder that can be written with --state."
        case .unusable(let path, let cause):
            "Cannot use the state folder \(path) (\(cause)); \(advice(cause)), or name another with --state."
        case .inUse(let path):
            "Another roadmesh is using the state folder \(path); stop it, or give this one a folder with --state."
        case .damagedIdentity(let file):
            "The identity in \(file) is damaged; move it away, and the node starts with a new identity."
        }
    }

    /// The remedy for a cause, which is the system's error text.
    private static func advice(_ cause: String) -> String {
        switch cause {
        case String(cString: strerror(ENOSPC)), String(cString: strerror(EDQUOT)): "make room on its disk"
        case String(cString: strerror(EMFILE)): "let it open more files with ulimit -n 256"
        default: "make it writable"
        }
    }
}
