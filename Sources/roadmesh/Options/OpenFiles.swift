// SPDX-License-Identifier: Apache-2.0

import Dashboard
import Glibc
import MeshNode
import MeshProtocol
import TerminalUI

/// How many files the system lets this program have open (RLIMIT_NOFILE, getrlimit(2)), and for what they are. A link to a
/// guest is one of them, so browsers must not take the last.
struct OpenFiles {
    /// How many connections of browsers there is room for.
    let places: Int
    /// How many files are allowed, where that is fewer than are wanted.
    private let allowed: Int?

    /// What a node has open itself: a host at rest 28; the others are for mpv, a folder of music and its index, a recording,
    /// covers on their way, and adapters.
    private static let node = 64
    /// Links: guests, half-open ones, and those that are being told that there is no room.
    private static let air = Limits.guests + 2 * Limits.halfOpenLinks
    /// The fewest with which the program can start at all, and say what is wrong.
    private static let least = 24

    /// Ends the program with a message if it may open fewer files than the Swift runtime needs, which crashes otherwise.
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

    /// What is asked for where there is less.
    private static let wanted = node + air + DashboardLimits.connections

    /// Asks for as many as are wanted.
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

    /// What is said of a node's page that takes fewer connections than it could; nil where it takes all.
    func remark(_ role: NodeDescription.Role) -> String? {
        allowed.map { allowed in
            "The system lets roadmesh open only \(allowed) files: the page takes \(places) connections at a time"
                + (role == .host ? ", so that guests have theirs" : "")
                + ". ulimit -n \(Self.wanted) is enough for all."
        }
    }
}
