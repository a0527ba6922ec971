// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import MeshNode

extension MPVPlayer {
    /// Where mpv is on this machine. `path` is the list of folders that programs are in. Throws a sentence that says
    /// how to have it where it is in none of them.
    public static func find(
        path: String? = ProcessInfo.processInfo.environment["PATH"]
    ) throws(SetupProblem) -> String {
        // A relative folder would be another one after each change of folder.
        let folders = (path ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":").filter { $0.hasPrefix("/") }
        for folder in folders where access("\(folder)/mpv", X_OK) == 0 { return "\(folder)/mpv" }
        throw SetupProblem(
            .unavailable,
            "The player mpv is not installed, so nothing would be heard; install it with \"sudo apt install mpv\", or "
                + "keep time without sound with --player none.")
    }
}
