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
            await outlet.send(
                .discovered(peripheral.peer, rssi: peripheral.rssi, hops: peripheral.hops))
        // That a dial has got that far is told when its channel opens.
        case .reached: break
        case .lost(let peer):
            peripherals[peer.id] = nil
            await outlet.send(.lost(peer))
        case .accepted(let transport):
            await endpoint.open(transport, as: .responder, refusing: transport.refusal)
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
            await outlet.send(.connected(peer))
        case .link(_, .received(let message)): await outlet.send(.received(message))
        case .link(let link, .latestHasLeft):
            if let peer = peers[link] { await outlet.send(.latestHasLeft(to: peer.id)) }
        case .link(let link, .ended(let peer, let end)):
            logger.info("link to \(peer) ended: \(end)")
            peers[link] = nil
            await manager.linksChanged()
            await outlet.send(.disconnected(peer, end))
        case .link(let link, .failed(let expected, let proved, let end)):
            invitationIsOver(link)
            await manager.linksChanged()
            if let expected { await outlet.send(.inviteFailed(peer: expected, InviteFailure(end, provedBy: proved))) }
        case .link(_, .acknowledged(let number, let peer)): await outlet.send(.acknowledged(upTo: number, by: peer))
        case .link(_, .admitted), .link(_, .roundTrip): break
        case .report(_, let peer, let report): await outlet.send(.link(peer, report))
        case .forgot(let peer): await outlet.send(.forgot(peer))
        }
    }
}
