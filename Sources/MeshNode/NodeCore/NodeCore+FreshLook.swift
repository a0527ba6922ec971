// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A short scan after a failed dial. The peers that were heard before the dial may be full or gone as well.
struct FreshLook: Sendable {
    /// The invited host.
    var host: Peer.ID
    /// When the scan ends if no route is heard.
    var until: MeshInstant
    /// Why the last dial failed.
    var failure: InviteFailure
}

extension NodeCore {
    /// Scans for the present routes and dials the best of them.
    mutating func lookAfresh(for host: Peer.ID, after failure: InviteFailure) {
        freshLook = FreshLook(host: host, until: context.now + NodeLimits.freshLook, failure: failure)
        scan()
    }

    /// Hosts with these heads were heard since the scan began and may be joined now.
    mutating func mayBeJoined(_ heads: [Peer.ID]) {
        guard let look = freshLook, heads.contains(Identity.head(of: look.host)) else { return }
        endFreshLook()
        invite(look.host)
    }

    mutating func endFreshLook() {
        guard freshLook != nil else { return }
        freshLook = nil
        stopScanning()
    }

    /// No route was heard in time.
    mutating func tickFreshLook() {
        guard let look = freshLook, look.until <= context.now else { return }
        endFreshLook()
        inviteFailed(look.failure)
    }
}
