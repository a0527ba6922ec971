// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import DemocracyDJTesting
import Foundation
import MeshProtocol
import Testing

/// The documents' own lines, as far as they use our names. Compiling them is most of the test.
@Suite("The documents' lines compile and work")
struct DocumentNamesTests {
    private let bob = Peer(id: "test", name: "Bob")

    // A host's reducer, as "Error & Disconnect Handling" has it.
    private struct HostReducer {
        var state = Example.hostFeature().state

        mutating func reduce(_ event: HostFeature.Event) -> Bool {
            switch event {
            case .multipeerEvent(.peerDisconnected(let peer)):
                state.connectedPeers.remove(id: peer.id)
                return true  // broadcastSnapshot()
            default: return false
            }
        }
    }

    // A guest's.
    private struct GuestReducer {
        var state = GuestFeature(local: Example.ana).state
        let hostPeerID = Example.host.id

        mutating func reduce(_ event: GuestFeature.Event) -> Bool {
            switch event {
            case .multipeerEvent(.peerDisconnected(let peer)):
                if peer.id == hostPeerID {
                    // Lost connection to host!
                    state.connectionStatus = .reconnecting
                    return true
                }
                // Another guest left - will see in next snapshot
                return false
            default: return false
            }
        }
    }

    @Test("a host's reducer removes a lost peer by its identifier")
    func hostReducer() {
        var reducer = HostReducer()
        reducer.state.connectedPeers = [bob, Example.ana]
        let isBroadcast = reducer.reduce(.multipeerEvent(.peerDisconnected(bob)))
        #expect(isBroadcast)
        #expect(reducer.state.connectedPeers == [Example.ana])
    }

    @Test("a guest's reducer distinguishes its host from another guest")
    func guestReducer() {
        var reducer = GuestReducer()
        let isLost = [bob, Example.host].map { reducer.reduce(.multipeerEvent(.peerDisconnected($0))) }
        #expect(isLost == [false, true])
        #expect(reducer.state.connectionStatus == .reconnecting)
    }

    @Test("a message that could not be sent is reported with its error")
    func sendFailed() {
        let message = MeshMessage.intent(.vote(songID: "s1"))
        let (events, continuation) = AsyncStream<MultipeerEvent>.makeStream()
        let failing: () throws(SendError) -> Void = { () throws(SendError) in throw SendError(.full, to: bob) }
        do {
            try failing()
        } catch {
            continuation.yield(.sendFailed(message, error))
        }
        _ = events
        if case .sendFailed(.intent(let intent), let error) = MultipeerEvent.sendFailed(
            message, SendError(.full, to: bob))
        {
            #expect(intent.songID == "s1" && error.peer == bob)
        } else {
            Issue.record("another event")
        }
    }

    @Test("every event of the documents' tables has its name")
    func events() {
        let snapshot = Example.hostFeature().snapshot
        let events: [MultipeerEvent] = [
            .peerDiscovered(bob), .peerConnected(bob), .peerDisconnected(bob), .peerLost(bob),
            .messageReceived(.stateUpdate(snapshot), from: bob),
            .messageReceived(.intent(.suggestSong(songID: "s1")), from: bob), .networkUnavailable, .sessionInvalidated,
        ]
        let messages = events.filter { event in
            switch event {
            case .messageReceived(let msg, let peer): msg != .stateRequest && peer == bob
            default: false
            }
        }
        #expect(messages.count == 2)
        #expect(bob.displayName == "Bob" && Set(events).count == events.count)
    }

    @Test("a snapshot has the properties that the documents read")
    func snapshot() {
        let snapshot = Example.hostFeature().snapshot
        let (nowPlaying, isPlaying): (QueueItem?, Bool) = (snapshot.nowPlaying, snapshot.isPlaying)
        let (queue, connectedPeers): ([QueueItem], [Peer]) = (snapshot.queue, snapshot.connectedPeers)
        let song: Song? = queue.first?.song
        #expect(isPlaying == (nowPlaying != nil) && connectedPeers.isEmpty && song?.id == queue.first?.song.id)
    }

    @Test("an error has its description, its suggestion and its button")
    func errors() {
        let cause = URLError(.timedOut)
        let errors: [NetworkError] = [
            .invalidURL, .requestFailed(cause), .invalidResponse, .httpError(statusCode: 500), .decodingError(cause),
            .noData, .offline, .emptyData, .serverMaintenance, .rateLimited,
        ]
        for error in errors {
            let described: any LocalizedError = error
            #expect(described.errorDescription?.isEmpty == false)
            let suggestion: String? = ErrorRecoveryHelper.suggestion(for: error)
            let label: String = ErrorRecoveryHelper.buttonLabel(for: error)
            #expect(suggestion?.isEmpty != true && !label.isEmpty)
        }
    }

    @Test("a toast is made from its words, and stays where it is critical")
    func toast() async {
        let toast = ErrorToast(message: "Connection Lost", suggestion: "Trying to reconnect...")
        #expect(toast.message == "Connection Lost" && toast.suggestion == "Trying to reconnect...")
        #expect(toast.buttonText == "Retry" && toast.isCritical && toast.dismissAfter == nil)
        let (taps, tapped) = AsyncStream<Void>.makeStream()
        let retrying = ErrorToast(
            message: "Connection Lost", suggestion: "Trying to reconnect...", retryAction: { tapped.yield() })
        #expect(retrying == toast && retrying.retry() && !toast.retry())
        tapped.finish()
        var count = 0
        for await _ in taps { count += 1 }
        #expect(count == 1)
        let passing = ErrorToast(message: "Saved.", buttonText: "OK", isCritical: false)
        #expect(passing.buttonText == "OK" && !passing.isCritical && passing.dismissAfter != nil)
    }
}
