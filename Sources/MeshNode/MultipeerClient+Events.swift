// SPDX-License-Identifier: Apache-2.0

import BLETransport
import MeshProtocol
import MeshSession

/// What the radio's manager and the endpoint tell, as a client's events.
extension MultipeerClient {
    func received(_ event: BLEManagerEvent) async {
        switch event {
        case .discovered(let peripheral):
            peripherals[peripheral.peer.id] = peripheral
            let contact = Contact(.heard, peripheral.peer, by: .sighting, rssi: peripheral.rssi)
            await outlet.send(
                .discovered(peripheral.peer, rssi: peripheral.rssi, hops: peripheral.hops))
            await outlet.send(.contact(contact))
        case .reached(let peer):
            // One dial at a time is pending. bluetoothd may have forgotten the device meanwhile.
            guard let invited = invitations.keys.first else { return }
            await outlet.send(.contact(Contact(.heard, peer ?? Peer(id: invited, name: ""), by: .link)))
        case .lost(let peer):
            peripherals[peer.id] = nil
            await outlet.send(.lost(peer))
        case .accepted(let transport):
            await endpoint.open(transport, as: .host, refusing: transport.refusal)
            await manager.linksChanged()
        case .radio(let condition): await outlet.send(.radio(condition))
        }
    }

    func received(_ event: EndpointEvent) async {
        switch event {
        case .link(let link, .connected(let peer)):
            logger.info("link to \(peer) is up")
            invitationIsOver(link)
            peers[link] = peer
            await outlet.send(.contact(Contact(.resumed, peer)))
            await outlet.send(.connected(peer))
        case .link(_, .received(let message)): await outlet.send(.received(message))
        case .link(let link, .latestHasLeft):
            if let peer = peers[link] { await outlet.send(.latestHasLeft(to: peer.id)) }
        case .link(let link, .ended(let peer, let end)):
            logger.info("link to \(peer) ended: \(end)")
            peers[link] = nil
            let patience = patience.removeValue(forKey: link) ?? Limits.supervisionTimeout
            let contact = Contact(lost: peer, end, supervision: patience)
            await manager.linksChanged()
            await outlet.send(.contact(contact))
            await outlet.send(.disconnected(peer, end))
        case .link(let link, .failed(let expected, let proved, let end)):
            invitationIsOver(link)
            await manager.linksChanged()
            if let expected { await outlet.send(.inviteFailed(peer: expected, InviteFailure(end, provedBy: proved))) }
        case .link(_, .acknowledged(let number, let peer)): await outlet.send(.acknowledged(upTo: number, by: peer))
        case .link(_, .roundTrip): break
        case .report(let link, let peer, let report):
            if let timeout = report.condition?.got.supervisionTimeout, peers[link] != nil {
                patience[link] = .milliseconds(timeout)
            }
            await outlet.send(.link(peer, report))
        case .forgot(let peer): await outlet.send(.forgot(peer))
        }
    }
}
