// SPDX-License-Identifier: Apache-2.0

import CMosquitto
import Dispatch
import FoundationEssentials
import MeshProtocol
import NIOConcurrencyHelpers

/// The events of a connection to a broker.
enum MQTTEvent: Sendable {
    case connected
    case granted(String)
    case arrived(topic: String, [UInt8])
    /// The connection has ended. This is the last event.
    case ended(BrokerFault)
}

/// One connection to a broker from start to end. libmosquitto runs it on its own thread.
///
/// No state is carried over to the next connection. Pending data of libmosquitto and the broker is lost with this
/// connection.
final class MQTTConnection: Sendable {
    /// The settings of a connection.
    struct Options: Sendable {
        var broker: BrokerAddress
        /// The index of the broker's server to connect to.
        var server = 0
        var files: BrokerFiles
        var client: String
        /// A topic that the broker empties, retained, when this connection is lost.
        var lastWill: String?
        /// The connection drops longer messages.
        var messageBytes = BrokerLimits.messageBytes
        var quality = Quality.acknowledged
        /// Time for the broker to accept the connection, and to grant a subscription.
        var patience = BrokerLimits.connect
    }

    /// The quality of service for publishing and subscribing (MQTT 3.1.1, 4.3).
    enum Quality: Int32, Sendable {
        /// For messages whose loss the receiver detects. A cluster forwards them without its leader.
        case unacknowledged = 0
        case acknowledged = 1
    }

    /// All events, for one listener.
    let events: AsyncStream<MQTTEvent>

    private struct State: Sendable {
        var isClosing = false
        var isConnected = false
        var hasSaidGoodbye = false
        /// Calls of `subscribe` and `publish` that have not returned from libmosquitto.
        var calls = 0
        /// Answers that arrived before their call returned, by message number. The value says whether the broker grants
        /// the subscription.
        var early: [Int32: Bool] = [:]
        /// Subscriptions that the broker has not acknowledged, by message number.
        var asked: [Int32: String] = [:]
        /// Published messages that the broker has not acknowledged. A message without an acknowledgement stays until it
        /// is sent.
        var underWay: [Int32: @Sendable () -> Void] = [:]
        /// libmosquitto's last error message.
        var complaint: String?
        var refusal: Int32 = 0
        /// Why the connection must end.
        var fault: BrokerFault?
        var traffic = BrokerTraffic()
        /// Whether the connection is up and no answer of the broker is outstanding.
        var isSettled: Bool { isConnected && !isClosing && calls == 0 && asked.isEmpty && underWay.isEmpty }
        /// Whether everything has been sent and the goodbye is due.
        var mayLeave: Bool { isClosing && isConnected && calls == 0 && underWay.isEmpty && !hasSaidGoodbye }

        /// A call has returned from libmosquitto. Returns the answer if it has already arrived.
        mutating func returned(_ number: Int32) -> Bool? {
            calls -= 1
            defer { if calls == 0 { early = [:] } }
            return early.removeValue(forKey: number)
        }
    }

    /// libmosquitto calls back while it holds its own locks, and the callbacks lock `state`. So libmosquitto must never
    /// be called while `state` is locked.
    private let state = NIOLockedValueBox(State())
    /// Nil before the start and after the end. Threads other than the connection's own lock `handle` during a call, so
    /// that libmosquitto's object is not destroyed during the call. Callbacks never lock it.
    private let handle = NIOLockedValueBox(Handle())

    private struct Handle: Sendable {
        /// libmosquitto accepts calls from any thread.
        nonisolated(unsafe) var pointer: OpaquePointer?
    }
    private let sink: AsyncStream<MQTTEvent>.Continuation
    private let options: Options
    private static let isLibraryLoaded = NIOLockedValueBox(false)

    /// Whether libmosquitto is loaded. If it is missing, each attempt looks for it again.
    private static var isLibraryReady: Bool {
        isLibraryLoaded.withLockedValue { isLoaded in
            isLoaded = isLoaded || cmosquitto_load()
            return isLoaded
        }
    }

    /// Starts the connection.
    init(_ options: Options) {
        self.options = options
        (events, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(BrokerLimits.events))
        DispatchQueue(label: "roadmesh.broker").async { self.run() }
    }

    /// The bytes that the connection has carried.
    var traffic: BrokerTraffic { state.withLockedValue { $0.traffic } }

    // MARK: Calls of the owner, on any thread

    func subscribe(_ filter: String) {
        let quality = options.quality
        let number = call { mosquitto_subscribe($0, $1, filter, quality.rawValue) }
        guard let number else { return }
        let answer = state.withLockedValue { state in
            let answer = state.returned(number)
            if answer == nil { state.asked[number] = filter }
            return answer
        }
        if let answer { granted(filter, answer) }
    }

    /// Publishes a message. Returns false if the message will not be sent. `taken` is called when the broker has
    /// acknowledged the message. If the message needs no acknowledgement, `taken` is called when it has been sent. The
    /// end of the connection also calls `taken`.
    @discardableResult
    func publish(
        _ topic: String, _ payload: [UInt8], isRetained: Bool = false, taken: @escaping @Sendable () -> Void = {}
    ) -> Bool {
        let quality = options.quality
        let number = call {
            mosquitto_publish($0, $1, topic, Int32(payload.count), payload, quality.rawValue, isRetained)
        }
        guard let number else { return false }
        let isTaken = state.withLockedValue { state in
            // After the end of the connection, only this code calls `taken`.
            let isTaken = state.returned(number) != nil || !state.isConnected
            if !isTaken { state.underWay[number] = taken }
            return isTaken
        }
        if isTaken { taken() }
        leave()
        return true
    }

    /// Calls libmosquitto, if it is connected. Returns the number of the message, or nil if libmosquitto refused the
    /// call.
    private func call(_ body: (OpaquePointer, UnsafeMutablePointer<Int32>) -> Int32) -> Int32? {
        handle.withLockedValue { handle in
            guard let pointer = handle.pointer else { return nil }
            let mayCall = state.withLockedValue { state in
                guard state.isConnected, !state.isClosing else { return false }
                state.calls += 1
                return true
            }
            guard mayCall else { return nil }
            var number: Int32 = 0
            if body(pointer, &number) == 0 { return number }
            state.withLockedValue { _ = $0.returned(0) }
            return nil
        }
    }

    /// Ends the connection because of a fault.
    func fail(_ fault: BrokerFault) { state.withLockedValue { $0.fault = $0.fault ?? fault } }

    /// Ends the connection after sending what was published.
    func close() {
        state.withLockedValue { $0.isClosing = true }
        leave()
    }

    /// Says goodbye when all messages have been sent. Not earlier: after the goodbye libmosquitto treats the next
    /// packet that arrives as an error and drops unsent messages. Callbacks must not call this.
    private func leave() {
        handle.withLockedValue { handle in
            guard let pointer = handle.pointer else { return }
            let leaves = state.withLockedValue { state in
                defer { state.hasSaidGoodbye = state.hasSaidGoodbye || state.mayLeave }
                return state.mayLeave
            }
            guard leaves else { return }
            // `mosquitto_disconnect` also wakes the thread.
            mosquitto_disconnect(pointer)
        }
    }

    // MARK: The thread

    private func run() {
        let fault = converse()
        let (waiting, complaint) = state.withLockedValue { state in
            defer { (state.isConnected, state.underWay) = (false, [:]) }
            return (Array(state.underWay.values), state.complaint)
        }
        // Waits for calls of other threads. No callback follows.
        let ended = handle.withLockedValue { handle in
            defer { handle.pointer = nil }
            return handle.pointer
        }
        if let ended { mosquitto_destroy(ended) }
        for taken in waiting { taken() }
        sink.yield(.ended(fault.explained(by: complaint)))
        sink.finish()
    }

    private func converse() -> BrokerFault {
        guard Self.isLibraryReady else {
            return BrokerFault(.unreachable, "libmosquitto is missing: sudo apt-get install libmosquitto1")
        }
        guard let handle = mosquitto_new(options.client, true, Unmanaged.passUnretained(self).toOpaque()) else {
            return BrokerFault(.unreachable, "no memory")
        }
        self.handle.withLockedValue { $0.pointer = handle }
        if let fault = prepare(handle) { return fault }
        let server = options.broker.servers[options.server]
        let begun = mosquitto_connect_async(
            handle, server.host, Int32(server.port), Int32(BrokerLimits.keepAlive.components.seconds))
        guard begun == 0 || begun == MOSQ_ERR_CONN_PENDING.rawValue else { return BrokerFault(code: begun, refusal: 0) }
        var waitsSince = ContinuousClock.now
        var closing: ContinuousClock.Instant?
        while true {
            let patience = state.withLockedValue { $0.isSettled } ? BrokerLimits.sleep : BrokerLimits.look
            let code = mosquitto_loop(handle, Int32(patience.components.seconds * 1_000), 1)
            leave()
            let socket = mosquitto_socket(handle)
            let (isConnected, isClosing, refusal, fault, isWaiting) = state.withLockedValue { state in
                state.traffic.note(socket)
                return (
                    state.isConnected, state.isClosing, state.refusal, state.fault,
                    !state.isConnected || !state.asked.isEmpty
                )
            }
            if let fault { return fault }
            if code != 0 || refusal != 0 { return BrokerFault(code: code, refusal: refusal) }
            if isClosing, !isConnected { return BrokerFault(.unreachable, "closed") }
            if isClosing, closing == nil { closing = .now + BrokerLimits.farewell }
            if let closing, ContinuousClock.now > closing { return BrokerFault(.unreachable, "closed") }
            if !isWaiting { waitsSince = .now }
            if ContinuousClock.now - waitsSince > options.patience { return BrokerFault(.unreachable, "no answer") }
        }
    }

    /// Configures the handle before the connection. Returns a fault if that fails.
    private func prepare(_ handle: OpaquePointer) -> BrokerFault? {
        mosquitto_threaded_set(handle, true)
        mosquitto_int_option(handle, MOSQ_OPT_PROTOCOL_VERSION, Int32(MQTT_PROTOCOL_V311))
        mosquitto_int_option(handle, MOSQ_OPT_TCP_NODELAY, 1)
        mosquitto_max_inflight_messages_set(handle, UInt32(BrokerLimits.underWay))
        if let topic = options.lastWill { mosquitto_will_set(handle, topic, 0, nil, options.quality.rawValue, true) }
        if let user = options.broker.user { mosquitto_username_pw_set(handle, user, options.broker.password) }
        setCallbacks(handle)
        guard options.broker.isSecure else { return nil }
        let files = options.files
        let code = mosquitto_tls_set(
            handle, files.authorities, files.authorities == nil ? "/etc/ssl/certs" : nil, files.certificate, files.key,
            nil)
        return code == 0 ? nil : BrokerFault(.untrusted, "a certificate or key cannot be read")
    }

    private func setCallbacks(_ handle: OpaquePointer) {
        mosquitto_connect_callback_set(handle) { _, owner, code in MQTTConnection.at(owner).connected(code) }
        mosquitto_subscribe_callback_set(handle) { _, owner, number, count, granted in
            MQTTConnection.at(owner).granted(number, count > 0 && granted.map { $0[0] <= 2 } == true)
        }
        mosquitto_publish_callback_set(handle) { _, owner, number in MQTTConnection.at(owner).published(number) }
        mosquitto_message_callback_set(handle) { _, owner, message in
            if let message { MQTTConnection.at(owner).arrived(message.pointee) }
        }
        mosquitto_log_callback_set(handle) { handle, owner, level, text in
            guard level == MOSQ_LOG_ERR, let text else { return }
            MQTTConnection.at(owner).complained(String(cString: text))
            if cmosquitto_is_out_of_time(handle) { MQTTConnection.at(owner).isOutOfTime() }
        }
    }

    private static func at(_ owner: UnsafeMutableRawPointer?) -> MQTTConnection {
        guard let owner else { preconditionFailure("the owner was given with the handle") }
        return Unmanaged<MQTTConnection>.fromOpaque(owner).takeUnretainedValue()
    }

    // MARK: Callbacks of libmosquitto, on the thread

    private func connected(_ code: Int32) {
        state.withLockedValue { state in
            guard code == 0 else { return state.refusal = code }
            state.isConnected = true
        }
        if code == 0 { tell(.connected) }
    }

    private func granted(_ number: Int32, _ isGranted: Bool) {
        let filter = state.withLockedValue { state in
            let filter = state.asked.removeValue(forKey: number)
            if filter == nil, state.calls > 0 { state.early[number] = isGranted }
            return filter
        }
        if let filter { granted(filter, isGranted) }
    }

    private func granted(_ filter: String, _ isGranted: Bool) {
        guard !isGranted else { return tell(.granted(filter)) }
        // A server whose cluster is changing its leader gives the same answer. Another connection may get the grant.
        state.withLockedValue {
            $0.fault = BrokerFault(.refused, "it does not allow this device to read \(filter)", isPassing: true)
        }
    }

    private func published(_ number: Int32) {
        let taken = state.withLockedValue { state in
            let taken = state.underWay.removeValue(forKey: number)
            if taken == nil, state.calls > 0 { state.early[number] = true }
            return taken
        }
        taken?()
    }

    private func arrived(_ message: mosquitto_message) {
        guard let topic = message.topic, message.payloadlen <= options.messageBytes else { return }
        let payload = UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen))
        tell(.arrived(topic: String(cString: topic), Array(payload)))
    }

    private func complained(_ text: String) { state.withLockedValue { $0.complaint = text } }

    private func isOutOfTime() {
        let now = Date().formatted(.iso8601.year().month().day())
        state.withLockedValue { $0.fault = $0.fault ?? BrokerFault(.clockWrong, now) }
    }

    private func tell(_ event: MQTTEvent) {
        guard case .dropped = sink.yield(event) else { return }
        complained("it sends faster than this device reads")
        state.withLockedValue { $0.isClosing = true }
    }
}
