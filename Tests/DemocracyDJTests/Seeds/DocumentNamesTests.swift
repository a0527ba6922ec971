// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import DemocracyDJTesting
import Foundation
import MeshProtocol
import Testing

/// The documents' own lines, as far as they use our names. Compiling them is most of the test.
@Suite("The documents' lines that can compile here compile and work")
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

    /// Replaces Apple's session and encoder. Every message fails.
    private struct Session {
        enum Mode { case reliable }

        let failure: any Error

        func encode(_ message: MeshMessage) throws -> Data { Data() }

        func send(_ data: Data, toPeers peers: [Peer], with mode: Mode) throws { throw failure }
    }

    /// The actor of "Error & Disconnect Handling". Its function is copied from the document line by line.
    private actor MultipeerActor {
        private let session: Session
        private let peers: [Peer] = []
        private var encoder: Session { session }
        private var continuation: AsyncStream<MultipeerEvent>.Continuation?
        let events: AsyncStream<MultipeerEvent>

        init(failing failure: any Error) {
            session = Session(failure: failure)
            let (stream, continuation) = AsyncStream<MultipeerEvent>.makeStream()
            (events, self.continuation) = (stream, continuation)
        }

        func send(_ message: MeshMessage, to peer: Peer?) async throws {
            let data = try encoder.encode(message)

            do {
                try session.send(data, toPeers: peers, with: .reliable)
            } catch {
                // Log error but don't crash
                continuation?.yield(.sendFailed(message, error))
                throw error
            }
        }
    }

    /// An error that cannot be compared.
    private struct Hiccup: Error {}

    @Test(
        "the document's catch reports a message that could not be sent, whatever its error is",
        arguments: [
            SendError(.full, to: Peer(id: "test", name: "Bob")), URLError(.timedOut), Hiccup(),
        ] as [any Error])
    func sendFailed(failure: any Error) async throws {
        let message = MeshMessage.intent(.vote(songID: "s1"))
        let actor = MultipeerActor(failing: failure)
        await #expect(throws: (any Error).self) { try await actor.send(message, to: nil) }
        let event = try #require(await actor.events.first { _ in true })
        guard case .sendFailed(.intent(let intent), let error) = event else {
            Issue.record("another event")
            return
        }
        #expect(intent.songID == "s1" && type(of: error) == type(of: failure))
        #expect(event == .sendFailed(message, failure) && event != .sendFailed(.stateRequest, failure))
        #expect(event != .sendFailed(message, SendError(.noLink, to: bob)))
        #expect(Set([event, .sendFailed(message, failure)]).count == 1)
        // A guest keeps the vote, whatever the error says.
        var guest = GuestFeature(local: Example.ana)
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)), now: .zero)
        _ = guest.handle(.vote("s1"), now: .zero)
        _ = guest.handle(.multipeerEvent(event), now: .zero)
        #expect(guest.state.wishes.map(\.songID) == ["s1"])
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
