// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A look at who is about, after a dial in vain: who was heard before that one is as likely to be full, or gone, by now.
struct FreshLook: Sendable {
    /// Who was invited.
    var host: Peer.ID
    /// When it ends, where nobody is heard.
    var until: MeshInstant
    /// Why there is a look.
    var failure: InviteFailure
}

extension NodeCore {
    /// Listens for the ways that there are now, and takes the best of them.
    mutating func lookAfresh(for host: Peer.ID, after failure: InviteFailure) {
        freshLook = FreshLook(host: host, until: context.now + NodeLimits.freshLook, failure: failure)
        scan()
    }

    /// Hosts of these heads may be joined now, by what was heard since the scan began.
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

    /// Nobody was heard in time.
    mutating func tickFreshLook() {
        guard let look = freshLook, look.until <= context.now else { return }
        endFreshLook()
        inviteFailed(look.failure)
    }
}
