// SPDX-License-Identifier: Apache-2.0

import Dashboard
import Glibc
import MeshNode
import MeshProtocol
import NodeCore
import TerminalUI

/// The limit of open files of this program (RLIMIT_NOFILE, getrlimit(2)), and its use. Each link to a guest needs one,
/// so browsers must not take the last.
struct OpenFiles {
    /// The number of browser connections that fit.
    let places: Int
    /// The number of allowed files if it is lower than wanted.
    private let allowed: Int?

    /// Files that a node itself has open. An idle host has 28. The others are for mpv, a music folder and its index, a
    /// recording, covers that are loading, and adapters.
    private static let node = 64
    /// Links: guests, half-open ones, and those that are being refused because the host is full.
    private static let air = Limits.guests + 2 * Limits.halfOpenLinks
    /// The minimum number of files that the program needs to start and to report a problem.
    private static let least = 24

    /// Ends the program with a message if it may open fewer files than the Swift runtime needs. The runtime would
    /// crash.
    static func demandLeast() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        guard limit.rlim_cur < least else { return }
        limit.rlim_cur = min(limit.rlim_max, rlim_t(wanted))
        guard limit.rlim_cur >= least, setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            StandardError.write(
                "roadmesh: The system lets roadmesh open only \(limit.rlim_cur) files; raise the limit with: ulimit -n \(wanted)"
            )
            Glibc.exit(SetupProblem.ExitCode.unavailable.rawValue)
        }
    }

    /// The number to request if the limit is lower.
    private static let wanted = node + air + DashboardLimits.connections

    /// Requests the wanted number of files.
    static func reserve() throws(SetupProblem) -> OpenFiles {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        if limit.rlim_cur < wanted {
            limit.rlim_cur = min(limit.rlim_max, rlim_t(wanted))
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        let allowed = Int(clamping: limit.rlim_cur)
        guard allowed > node + air else {
            throw SetupProblem(
                .unavailable,
                "The system lets roadmesh open only \(allowed) files, and links take some; raise the limit with: "
                    + "ulimit -n \(wanted)")
        }
        guard allowed < wanted else { return OpenFiles(places: DashboardLimits.connections, allowed: nil) }
        return OpenFiles(places: allowed - node - air, allowed: allowed)
    }

    /// A remark on a page that accepts fewer connections than usual; nil if it accepts all.
    func remark(_ role: NodeDescription.Role) -> String? {
        allowed.map { allowed in
            "The system lets roadmesh open only \(allowed) files: the page takes \(places) connections at a time"
                + (role == .host ? ", so that guests have theirs" : "")
                + ". ulimit -n \(Self.wanted) is enough for all."
        }
    }
}
