// SPDX-License-Identifier: Apache-2.0

import Bearers
import DemocracyDJ
import MeshProtocol
import NodeCore

// Performs the core's actions, and translates the radio's reports into the core's events.

extension Node {
    /// Performs all actions of the node, and those that follow from them.
    func performActions() {
        guard !isPerforming else { return }
        isPerforming = true
        while let action = loop.next(now: clock.now, entropy: .random()) { perform(action) }
        isPerforming = false
        if !loop.hasEnded { clock.wake(at: loop.core.deadline) }
        resumeWaiting()
    }

    private func perform(_ action: NodeCore.Action) {
        switch action {
        case .startRadio:
            peripherals = [:]
            radioWork.yield(action)
        case .stopScanning, .retryRadio, .linksChanged, .relay, .placesForRelays: radioWork.yield(action)
        case .dial(let number, let head, _):
            guard let peripheral = peripherals[head] else {
                return take(.dialFailed(number, refusal: nil))
            }
            dialled[number] = peripheral
            radioWork.yield(action)
        case .cancelDial(let number):
            dialled[number] = nil
            dials.removeValue(forKey: number)?.cancel()
        // `NodeLoop` has already opened the circuit.
        case .openCircuit: break
        case .wake(let id): flush(id)
        case .close(let id, let afterFinalFrame): close(id, afterFinalFrame: afterFinalFrame)
        case .deliver(let message, let id): tell(.message(message), on: id)
        case .acknowledge(let number, let id): tell(.acknowledged(number), on: id)
        case .end(let id, let end):
            tell(.ended(end), on: id)
            localLinks.removeValue(forKey: id)?.finish()
        case .measure(let id): measure(id)
        case .heed(let id, let note): heed(note, on: id)
        case .write(let batch): if loop.hasEnded { lastWrite = batch } else { write(batch) }
        case .search(let request, let peer): find(request, for: peer)
        case .fetchCovers(let songs): covers.yield(songs)
        case .retryCovers: if let prefetcher = pictures.prefetcher { Task { await prefetcher.retry() } }
        case .makeCover(let songID): makeCover(songID)
        case .keepCover(let songID, let bytes): keepCover(songID, bytes)
        case .show(let event): sink.yield(event)
        // Only the first report of each kind is a warning, because a misbehaving peer repeats it.
        case .misbehaved(let how, let who, let count):
            logger.log(level: count == 1 ? .warning : .debug, "\(who) broke the protocol: \(how) (\(count) so far)")
        // Only the first failure of a series is logged as an error, because the node retries every second.
        case .storeFailed(let error, let isFirst):
            logger.log(level: isFirst ? .error : .debug, "the store accepts no writes: \(error)")
        // Warn once for each cause: a full conversation refuses many messages.
        case .notSent(let error, let count):
            logger.log(level: count == 1 ? .warning : .debug, "a message was not sent: \(error) (\(count) so far)")
        case .answered(let number): askers.removeValue(forKey: number)?.yield()
        case .quit(let reason): quit.yield(reason)
        }
    }

    private func write(_ batch: StoreBatch) {
        Task {
            do throws(NodeStoreError) {
                try await store.write(batch)
                take(.written)
            } catch {
                take(.writeFailed(error))
            }
        }
    }

    /// Runs in its own task, because the controller's answer takes time and reading must continue.
    private func measure(_ id: MeshCore.LinkID) {
        Task {
            let (rssi, condition) = await condition(of: id)
            take(.measured(id, rssi: rssi, condition))
        }
    }

    // MARK: The radio

    /// Starts to host or to scan. Throws a `BearerError` if the radio cannot do this.
    func startRadio() async throws {
        if loop.core.isHost { try await manager.startHosting() } else { try await manager.startBrowsing() }
    }

    /// Performs a request to the radio.
    func request(_ action: NodeCore.Action) async {
        switch action {
        case .startRadio:
            do {
                try await startRadio()
            } catch {
                take(.radioFailed(NetworkError(radio: error)))
            }
        case .stopScanning: await manager.stopBrowsing()
        case .retryRadio: await manager.tryAgain()
        case .linksChanged: await manager.linksChanged()
        case .relay(let notice):
            await manager.relay(
                notice.map {
                    RelayNotice(
                        host: $0.host, hops: UInt8(clamping: $0.hops), hasRoom: $0.hasRoom,
                        placesForRelays: $0.placesForRelays, asksForPIN: $0.asksForPIN)
                })
        case .placesForRelays(let areKept): await manager.keepPlaces(forRelays: areKept)
        case .dial(let number, _, let expecting):
            guard let peripheral = dialled.removeValue(forKey: number) else { return }
            dials[number] = Task { await self.dial(number, peripheral, expecting) }
        default: break
        }
    }

    private func dial(_ number: Int, _ peripheral: Peripheral, _ peer: Peer.ID) async {
        let transport = BearerTransport(peripheral: peripheral, expecting: peer)
        do {
            try await transport.connect()
            dials[number] = nil
            await open(transport, dial: number)
        } catch {
            dials[number] = nil
            logger.debug("dial \(number): \(error)")
            take(.dialFailed(number, refusal: await transport.refusal))
        }
    }

    /// Processes the radio's events until they end.
    func listen() async {
        for await event in manager.events {
            await received(event)
            await untilRoom()
        }
    }

    private func received(_ event: BearerManagerEvent) async {
        switch event {
        case .discovered(let peripheral):
            guard let node = HeardNode(peripheral) else { break }
            peripherals[peripheral.peer.id] = peripheral
            take(.heard(node))
        case .better(let peer):
            peripherals[peer.peer.id] = peer
            take(.better(peer.peer))
        case .lost(let peer):
            peripherals[peer.id] = nil
            take(.unheard(peer))
        case .reached(let peer): take(.reached(peer))
        case .accepted(let transport): await open(transport)
        case .radio(.unavailable(let failure)): take(.radioFailed(NetworkError(failure)))
        case .radio(.working): take(.radioRecovered)
        case .radio(.repaired(let repair)): take(.radioRepaired(Notice(repair)))
        case .radio(.timing(let timing)): take(.adapterTimed(timing))
        case .radio(.broker(let condition)): take(.broker(BrokerReport(condition)))
        }
    }
}

extension HeardNode {
    /// Converts a scan result of a bearer. Nil for a relay whose host is not known yet.
    init?(_ peripheral: Peripheral) {
        guard peripheral.isRelay else {
            self.init(
                peripheral.peer, rssi: peripheral.rssi, isUnderstood: peripheral.isUnderstood,
                asksForPIN: peripheral.asksForPIN, placesForRelays: peripheral.placesForRelays,
                bearer: peripheral.bearer)
            return
        }
        guard let relayed = peripheral.relayed else { return nil }
        self.init(
            relayed.host, relay: peripheral.peer.id, hops: relayed.hops, rssi: peripheral.rssi,
            hasRoom: relayed.hasRoom, placesForRelays: peripheral.placesForRelays,
            isUnderstood: peripheral.isUnderstood, asksForPIN: peripheral.asksForPIN)
    }
}
