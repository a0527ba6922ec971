// SPDX-License-Identifier: Apache-2.0

import Bearers
import CAvahi
import Dispatch
import Glibc
import NIOConcurrencyHelpers

/// A connection to the system bus for avahi-daemon, on its own thread: the connection belongs to one thread, which may
/// block.
final class AvahiBus: Sendable {
    /// The thread's next work. `AvahiMachine` makes only a few calls for each event, so the list stays short.
    private struct Orders {
        var calls: [AvahiCall] = []
        var isClosed = false
        /// Nil once the thread has released it.
        var avahi: Avahi?
    }

    /// `@unchecked` is correct: only the thread uses it, except for `cavahi_wake`, which any thread may call.
    private struct Avahi: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    /// The events, for one listener. The stream ends with the bus.
    let events: AsyncStream<AvahiEvent>
    private let sink: AsyncStream<AvahiEvent>.Continuation
    private let orders = NIOLockedValueBox(Orders())

    /// Connects to the system bus.
    init() throws(BearerError) {
        var opened: OpaquePointer?
        let status = cavahi_open(&opened)
        guard status >= 0, let opened else {
            throw BearerError(.serviceNotRunning, "no message bus: \(String(cString: strerror(-status)))")
        }
        (events, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(LANLimits.directoryEvents))
        let avahi = Avahi(pointer: opened)
        orders.withLockedValue { $0.avahi = avahi }
        DispatchQueue(label: "roadmesh.avahi").async { self.serve() }
    }

    /// Calls the daemon.
    func call(_ call: AvahiCall) { order { $0.calls.append(call) } }

    /// Ends the connection, the thread and the events.
    func close() { order { $0.isClosed = true } }

    private func order(_ change: (inout Orders) -> Void) {
        orders.withLockedValue { orders in
            guard let avahi = orders.avahi else { return }
            change(&orders)
            cavahi_wake(avahi.pointer)
        }
    }

    // MARK: The thread

    private func serve() {
        guard let avahi = orders.withLockedValue({ $0.avahi?.pointer }) else { return }
        var status: Int32 = 0
        while status >= 0 {
            let (calls, isClosed) = orders.withLockedValue { orders in
                defer { orders.calls = [] }
                return (orders.calls, orders.isClosed)
            }
            if isClosed { break }
            for call in calls { refused(call, Self.perform(call, on: avahi)) }
            status = cavahi_process(avahi)
            if status >= 0 { status = tell(avahi) }
            if status >= 0 { status = cavahi_wait(avahi) }
        }
        orders.withLockedValue { $0.avahi = nil }
        cavahi_close(avahi)
        sink.finish()
    }

    private static func perform(_ call: AvahiCall, on avahi: OpaquePointer) -> Int32 {
        switch call {
        case .askState: cavahi_ask_state(avahi)
        case .newGroup: cavahi_new_group(avahi)
        case .register(let group, let record):
            cavahi_register(
                avahi, group, record.name, ServiceRecord.type, UInt16(clamping: record.port), record.lengthsAndStrings,
                UInt16(record.lengthsAndStrings.count))
        case .update(let group, let record):
            cavahi_update(
                avahi, group, record.name, ServiceRecord.type, record.lengthsAndStrings,
                UInt16(record.lengthsAndStrings.count))
        case .reset(let group): cavahi_reset(avahi, group)
        case .browse: cavahi_browse(avahi, ServiceRecord.type)
        case .freeBrowser(let path): cavahi_free_browser(avahi, path)
        case .resolve(let number, let place):
            cavahi_resolve(
                avahi, Int32(clamping: number), Int32(clamping: place.interface), place.isIPv6 ? 1 : 0, place.name,
                ServiceRecord.type, place.domain)
        case .freeResolver(let path): cavahi_free_resolver(avahi, path)
        }
    }

    /// Reports the failure of a call that could not be sent, because the daemon will not answer it.
    private func refused(_ call: AvahiCall, _ status: Int32) {
        guard status < 0 else { return }
        let error = String(cString: strerror(-status))
        switch call {
        case .newGroup: sink.yield(.group(nil, error: error))
        case .browse: sink.yield(.browser(nil, error: error))
        case .resolve(let number, _): sink.yield(.resolver(number, path: nil))
        case .register, .update: sink.yield(.groupState(.failure(error)))
        case .askState, .reset, .freeBrowser, .freeResolver: break
        }
    }

    private func tell(_ avahi: OpaquePointer) -> Int32 {
        var event = cavahi_event()
        while true {
            let status = cavahi_next(avahi, &event)
            guard status == 1 else { return status }
            if let event = AvahiEvent(event) { sink.yield(event) }
        }
    }
}

extension ServiceRecord {
    /// The strings, each preceded by its length, as in DNS.
    fileprivate var lengthsAndStrings: [UInt8] {
        txt.flatMap { [UInt8(clamping: $0.count)] + $0.prefix(LANLimits.stringBytes) }
    }
}

extension AvahiEvent {
    fileprivate init?(_ event: cavahi_event) {
        let path = Self.text(event.path)
        let error = Self.text(event.error)
        switch event.kind {
        case Int32(CAVAHI_STATE): self = .server(isRunning: error.isEmpty ? event.state == CAVAHI_SERVER_RUNNING : nil)
        case Int32(CAVAHI_OWNER): self = .owner(isThere: event.state != 0)
        case Int32(CAVAHI_GROUP): self = .group(error.isEmpty ? path : nil, error: error)
        case Int32(CAVAHI_DONE): self = .taken(error: error)
        case Int32(CAVAHI_GROUP_STATE): self = .groupState(GroupState(event.state, error))
        case Int32(CAVAHI_BROWSER): self = .browser(error.isEmpty ? path : nil, error: error)
        case Int32(CAVAHI_BROWSER_FAILED): self = .browserFailed(error)
        case Int32(CAVAHI_NEW): self = .new(Self.place(event))
        case Int32(CAVAHI_REMOVED): self = .removed(Self.place(event))
        case Int32(CAVAHI_RESOLVER): self = .resolver(Int(event.tag), path: error.isEmpty ? path : nil)
        case Int32(CAVAHI_FOUND):
            self = .found(
                FoundService(
                    place: Self.place(event), address: Self.text(event.address), port: Int(event.port),
                    txt: Self.strings(event)))
        case Int32(CAVAHI_RESOLVER_FAILED): self = .resolverFailed(path: path)
        default: return nil
        }
    }

    private static func place(_ event: cavahi_event) -> ServicePlace {
        ServicePlace(
            name: text(event.name), interface: Int(event.interface), isIPv6: event.protocol == 1,
            domain: text(event.domain))
    }

    /// Converts a zero-terminated C string.
    private static func text<Characters>(_ characters: Characters) -> String {
        withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    private static func strings(_ event: cavahi_event) -> [[UInt8]] {
        var rest = withUnsafeBytes(of: event.txt) { Array($0.prefix(Int(event.txt_bytes))) }[...]
        var strings: [[UInt8]] = []
        while let count = rest.popFirst() {
            strings.append(Array(rest.prefix(Int(count))))
            rest = rest.dropFirst(Int(count))
        }
        return strings
    }
}

extension AvahiEvent.GroupState {
    fileprivate init(_ state: Int32, _ error: String) {
        switch state {
        case CAVAHI_GROUP_ESTABLISHED: self = .established
        case CAVAHI_GROUP_COLLISION: self = .collision
        case CAVAHI_GROUP_FAILURE: self = .failure(error)
        default: self = .underWay
        }
    }
}
