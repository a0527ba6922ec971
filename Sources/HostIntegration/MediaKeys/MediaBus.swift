// SPDX-License-Identifier: Apache-2.0

import CMediaPlayer
import Dispatch
import Glibc
import MeshProtocol
import NIOConcurrencyHelpers

/// An event of a session bus.
enum MediaBusEvent: Hashable, Sendable {
    case named
    case nameTaken
    case nameRefused
    case command(MediaCommand)
    /// A program asks to move the song's position by this much.
    case seekBy(MeshInstant)
    /// A program asks to move the song to this position.
    case seekTo(MeshInstant)
    /// The bus is gone, for this reason. No event follows.
    case closed(String)
}

/// A connection to a session bus, on its own thread: the connection belongs to one thread, which may block.
final class MediaBus: Sendable {
    /// Why a connection could not be opened.
    struct Failure: Error {
        var text: String
    }

    /// A state to show.
    struct Showing: Sendable {
        var state: MediaState
        var isNewStatus: Bool
        var isNewTrack: Bool
        var hasJumped: Bool
        /// Returns the current position in the song.
        var place: @Sendable () -> MeshInstant
    }

    /// The thread's next work. A newer state to show replaces an older one, so the list never grows.
    private struct Orders {
        var name: String?
        var showing: Showing?
        var isClosed = false
        /// Nil once the thread has released it.
        var player: Player?
    }

    /// `@unchecked` is correct: only the thread uses it, except for `cmedia_wake`, which any thread may call.
    private struct Player: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    /// The events of the bus, for one listener. If the listener is slow, only the newest events are kept, because a
    /// person presses few buttons.
    let events: AsyncStream<MediaBusEvent>
    private let sink: AsyncStream<MediaBusEvent>.Continuation
    private let orders = NIOLockedValueBox(Orders())

    /// Begins to connect to the bus at a D-Bus address.
    init(address: String) throws(Failure) {
        var opened: OpaquePointer?
        let status = cmedia_open(address, &opened)
        guard status >= 0, let opened else { throw Failure(text: String(cString: strerror(-status))) }
        (events, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
        let player = Player(pointer: opened)
        orders.withLockedValue { $0.player = player }
        DispatchQueue(label: "roadmesh.mediakeys").async { self.serve() }
    }

    /// Requests a name. `named`, `nameTaken` or `nameRefused` follows.
    func requestName(_ name: String) { order { $0.name = name } }

    /// Shows a state. If the previous state was not read yet, its changes still count as new.
    func show(_ showing: Showing) {
        order { orders in
            var showing = showing
            if let before = orders.showing {
                showing.isNewStatus = showing.isNewStatus || before.isNewStatus
                showing.isNewTrack = showing.isNewTrack || before.isNewTrack
                showing.hasJumped = showing.hasJumped || before.hasJumped
            }
            orders.showing = showing
        }
    }

    /// Ends the connection, the thread and the events.
    func close() { order { $0.isClosed = true } }

    private func order(_ change: (inout Orders) -> Void) {
        orders.withLockedValue { orders in
            change(&orders)
            if let player = orders.player { cmedia_wake(player.pointer) }
        }
    }

    // MARK: The thread

    private func serve() {
        guard let player = orders.withLockedValue({ $0.player?.pointer }) else { return }
        var status: Int32 = 0
        var place: @Sendable () -> MeshInstant = { .zero }
        while status >= 0 {
            let (name, showing, isClosed) = orders.withLockedValue { orders in
                defer { (orders.name, orders.showing) = (nil, nil) }
                return (orders.name, orders.showing, orders.isClosed)
            }
            if isClosed { break }
            if let name { status = cmedia_request_name(player, name) }
            if let showing {
                place = showing.place
                status = min(status, show(showing, on: player))
            }
            while status >= 0 {
                status = cmedia_process(player, Self.microseconds(place()))
                tell(player)
                if status == 0 { break }
            }
            if status >= 0 { status = cmedia_wait(player) }
        }
        orders.withLockedValue { $0.player = nil }
        cmedia_close(player)
        if status < 0 { sink.yield(.closed(String(cString: strerror(-status)))) }
        sink.finish()
    }

    private func show(_ showing: Showing, on player: OpaquePointer) -> Int32 {
        let track = showing.state.track
        let changed =
            (showing.isNewStatus ? CMEDIA_STATUS_CHANGED : 0)
            | (showing.isNewTrack ? CMEDIA_METADATA_CHANGED : 0)
        let texts = [
            showing.state.status.rawValue, track?.path, track?.title, track?.artist, track?.album, track?.artURL,
        ]
        .map { $0.map { strdup($0) } ?? nil }
        defer { for text in texts { free(text) } }
        let constants = texts.map { UnsafePointer($0) }
        var state = cmedia_state(
            status: constants[0], track: constants[1], title: constants[2], artist: constants[3],
            album: constants[4], art_url: constants[5], length: Self.microseconds(track?.length ?? .zero),
            volume: showing.state.volume,
            can_go_previous: showing.state.canGoBack ? 1 : 0)
        let status = cmedia_show(player, &state, UInt32(changed))
        guard status >= 0, showing.hasJumped else { return status }
        return cmedia_seeked(player, Self.microseconds(showing.place()))
    }

    private func tell(_ player: OpaquePointer) {
        while case let event = cmedia_next(player), event > 0 {
            switch Int(event) {
            case CMEDIA_PLAY: sink.yield(.command(.play))
            case CMEDIA_PAUSE: sink.yield(.command(.pause))
            case CMEDIA_PLAY_PAUSE: sink.yield(.command(.playPause))
            case CMEDIA_NEXT: sink.yield(.command(.next))
            case CMEDIA_PREVIOUS: sink.yield(.command(.previous))
            case CMEDIA_VOLUME:
                sink.yield(.command(.volume(Int((cmedia_wanted_volume(player) * 100).rounded()))))
            case CMEDIA_SEEK: sink.yield(.seekBy(.microseconds(cmedia_value(player))))
            case CMEDIA_SET_POSITION: sink.yield(.seekTo(.microseconds(cmedia_value(player))))
            case CMEDIA_NAMED: sink.yield(.named)
            case CMEDIA_NAME_TAKEN: sink.yield(.nameTaken)
            default: sink.yield(.nameRefused)
            }
        }
    }

    private static func microseconds(_ time: MeshInstant) -> Int64 { Int64(time / .microseconds(1)) }
}
