// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

extension BLETransport {
    var advertisement: Advertisement {
        Advertisement(service: service.uuid, peer: local)
    }

    /// Something has happened on the radio.
    func received(_ event: RadioEvent) async {
        switch event {
        case .heard(let sighting): await heard(sighting)
        case .lost(let endpoint):
            guard let (head, sighting) = sightings.first(where: { $0.value.endpoint == endpoint }) else { return }
            sightings[head] = nil
            await outlet.send(.lost(sighting.advertisement.peer))
        case .accepted(let channel):
            let strangers = links.values.count { $0.role == .host && $0.peer == nil }
            if isStopped || hosting == nil || strangers >= Limits.strangers {
                channel.close()
            } else {
                await open(channel, role: .host)
                linksChanged()
            }
        case .failed(let error): await outlet.send(.radio(.unavailable(error.cause)))
        case .recovered:
            await outlet.send(.radio(.working))
            linksChanged()
        }
    }

    // MARK: Advertising

    /// Legacy advertising stops when a guest links: it is asked for again at every change of links.
    func linksChanged() {
        guard var policy = hosting?.policy else { return }
        _ = policy.linksChanged(now: now)
        hosting?.policy = policy
        hosting?.renew.yield()
    }

    func advertiseAnew() async {
        guard let pace = hosting?.policy.currentPace, !isStopped else { return }
        do throws(RadioError) {
            try await radio.advertise(advertisement, pace: pace)
        } catch {
            logger.warning("advertising failed: \(error)")
            await outlet.send(.radio(.unavailable(error.cause)))
        }
    }

    func paceAdvertising() async {
        while !Task.isCancelled {
            guard let deadline = hosting?.policy.deadline ?? Optional(now + Limits.eagerAdvertising) else { return }
            try? await Task.sleep(until: origin + deadline, clock: .continuous)
            guard !Task.isCancelled else { return }
            if hosting?.policy.tick(now: now) != nil { hosting?.renew.yield() }
        }
    }

    // MARK: Browsing and dialling

    private func heard(_ sighting: Sighting) async {
        let peer = sighting.advertisement.peer
        guard sighting.advertisement.service == service.uuid, peer.id != Self.head(of: local.id),
            sightings[peer.id] != nil || sightings.count < Limits.sightings
        else { return }
        sightings[peer.id] = sighting
        await outlet.send(.discovered(peer, rssi: sighting.rssi, hops: Int(sighting.advertisement.hops)))
    }

    /// The part of an identifier that an advertisement has room for.
    static func head(of peer: Peer.ID) -> String {
        String(peer.prefix(2 * Advertisement.idPrefixBytes))
    }

    func dial(_ peer: Peer.ID) async {
        defer { dials[peer] = nil }
        guard let sighting = sightings[Self.head(of: peer)] else {
            await outlet.send(.inviteFailed(peer: peer, .unknownPeer))
            return
        }
        guard sighting.advertisement.version == ProtocolVersion.current else {
            await outlet.send(.inviteFailed(peer: peer, .refused(.version)))
            return
        }
        do throws(RadioError) {
            let channel = try await radio.dial(sighting.endpoint)
            if Task.isCancelled || isStopped {
                channel.close()
            } else {
                await open(channel, role: .guest, invited: peer)
            }
        } catch {
            guard error.code != .cancelled, !isStopped else { return }
            await outlet.send(.inviteFailed(peer: peer, .dialFailed(error.description)))
        }
    }
}
