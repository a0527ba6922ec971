// SPDX-License-Identifier: Apache-2.0

import Bearers
import CBlueZ
import Glibc
import MeshProtocol

/// The connection to bluetoothd. Calls suspend until they are answered; all other messages are events.
actor BlueZBus {
    /// The events of bluetoothd, for one listener. The shim bounds them: the bus is not read while the listener does
    /// not read.
    nonisolated let events: AsyncStream<BusEvent>

    private let bus: OpaquePointer
    /// A duplicate of the bus's descriptor, to wait on. libdbus keeps its own.
    private let socket: PacketSocket
    private let sink: AsyncStream<BusEvent>.Continuation
    private var calls: [UInt32: CheckedContinuation<Result<Void, BusFailure>, Never>] = [:]
    /// The calls that register an advertisement or the GATT service.
    private(set) var registrations: Set<UInt32> = []
    /// Calls that bluetoothd has not answered.
    var openCalls: Int { calls.count }
    private var reader: Task<Void, Never>?
    private var writer: Task<Void, Never>?
    private var alarm: Task<Void, Never>?
    private var isClosed = false

    /// Opens a connection to the system bus. Its first event is `ready`.
    init(poller: Poller) throws(BearerError) {
        var opened: OpaquePointer?
        var (status, cause): (Int32, String) = (0, "")
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(CBLUEZ_ERROR_TEXT)) { buffer in
            buffer.initialize(repeating: 0)
            status = cbluez_bus_open(nil, &opened, buffer.baseAddress)
            cause = buffer.baseAddress.map { String(cString: $0) } ?? ""
        }
        guard status == 0, let opened else {
            let isDenied = status == -EACCES || status == -EPERM
            throw BearerError(
                isDenied ? .notPermitted : .serviceNotRunning,
                cause.isEmpty ? SystemError.text(-status) : cause)
        }
        bus = opened
        let duplicate = fcntl(cbluez_bus_descriptor(opened), F_DUPFD_CLOEXEC, 0)
        guard duplicate >= 0 else {
            cbluez_bus_close(opened)
            throw BearerError(.failed, SystemError.text(errno))
        }
        socket = PacketSocket(duplicate, poller: poller)
        (events, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(RadioLimits.busEvents))
    }

    /// Starts to read the bus. Call it once, before any call.
    func start() {
        reader = Task { await self.read() }
        pump()
    }

    /// Closes the connection. bluetoothd then drops our advertisements, discovery and agent.
    func close() async {
        guard !isClosed else { return }
        isClosed = true
        socket.close()
        await reader?.value
        await writer?.value
        alarm?.cancel()
        await alarm?.value
        failCalls(.disconnected("closed"))
        cbluez_bus_close(bus)
        sink.finish()
    }

    // MARK: Calls

    /// Requests all objects. They arrive as events, all before this returns.
    func listObjects() async throws(BusFailure) {
        try await call { cbluez_bus_list_objects($0, $1) }
        sink.yield(.objectsListed)
    }

    /// Starts discovery of every Low Energy device in range.
    func startDiscovery(on adapter: String) async throws(BusFailure) {
        try await call { cbluez_bus_set_discovery_filter($0, adapter, $1) }
        do {
            try await call { cbluez_bus_start_discovery($0, adapter, $1) }
        } catch {
            // Discovery is already on for this connection, as requested.
            guard error.name != "org.bluez.Error.InProgress" else { return }
            throw error
        }
    }

    func stopDiscovery(on adapter: String) async throws(BusFailure) {
        try await call { cbluez_bus_stop_discovery($0, adapter, $1) }
    }

    func register(
        _ advertisement: Advertisement, psm: UInt8, pace: AdvertisingPace, as path: String, on adapter: String
    ) async throws(BusFailure) {
        let payload = advertisement.payload(psm: psm)
        try await call(registers: true) { bus, timeout in
            advertisement.service.description.withCString { uuid in
                advertisement.localName.withCString { name in
                    payload.withUnsafeBufferPointer { payload in
                        var contents = cbluez_advertisement(
                            uuid: uuid, company: Advertisement.company, manufacturer_data: payload.baseAddress,
                            manufacturer_count: payload.count, local_name: name,
                            min_interval_ms: UInt32(pace.milliseconds.lowerBound),
                            max_interval_ms: UInt32(pace.milliseconds.upperBound))
                        return cbluez_bus_register_advertisement(bus, adapter, path, &contents, timeout)
                    }
                }
            }
        }
    }

    func unregister(
        _ path: String, on adapter: String, within limit: Duration = RadioLimits.busCall
    ) async throws(BusFailure) {
        try await call(within: limit) { cbluez_bus_unregister_advertisement($0, adapter, path, $1) }
    }

    /// Stops waiting for these registrations.
    func giveUp(_ serials: Set<UInt32>) {
        for serial in serials.intersection(registrations) {
            calls.removeValue(forKey: serial)?.resume(
                returning: .failure(BusFailure(name: "org.bluez.Error.NotReady", text: "the adapter went off")))
        }
    }

    /// Switches an adapter on or off. If the controller does not answer, this takes until the kernel's timeout.
    func setPowered(_ isOn: Bool, on adapter: String) async throws(BusFailure) {
        try await call(within: RadioLimits.powerCall) { cbluez_bus_set_powered($0, adapter, isOn, $1) }
    }

    func remove(device path: String, from adapter: String) async throws(BusFailure) {
        try await call { cbluez_bus_remove_device($0, adapter, path, $1) }
    }

    func call(
        within limit: Duration = RadioLimits.busCall, registers: Bool = false,
        _ body: (OpaquePointer, Int32) -> Int64
    ) async throws(BusFailure) {
        guard !isClosed else { throw .disconnected("closed") }
        let timeout = Int32(limit / .milliseconds(1))
        let serial = body(bus, timeout)
        guard serial > 0 else {
            let text = SystemError.text(Int32(-serial))
            throw serial == -Int64(ENOTCONN)
                ? .disconnected(text) : BusFailure(name: "org.freedesktop.DBus.Error.Failed", text: text)
        }
        let result = await withCheckedContinuation { caller in
            calls[UInt32(serial)] = caller
            if registers { registrations.insert(UInt32(serial)) }
            pump()
            setAlarm()
        }
        registrations.remove(UInt32(serial))
        try result.get()
    }

    /// Makes a call that returns at once. Nil on a closed bus.
    func now(_ body: (OpaquePointer) -> Int32) -> Int32? {
        guard !isClosed else { return nil }
        defer { pump() }
        return body(bus)
    }

    // MARK: Reading and writing

    private func read() async {
        while !isClosed {
            setAlarm()
            do {
                try await socket.wait(for: .readable)
            } catch {
                return
            }
            pump()
        }
    }

    /// The shim checks the deadlines of calls only when it runs. This runs it at the next deadline, even if the bus is
    /// silent until then. A later call may have an earlier deadline.
    private func setAlarm() {
        alarm?.cancel()
        alarm = Task {
            while !isClosed, !Task.isCancelled, case let deadline = cbluez_bus_next_deadline_ms(bus), deadline >= 0 {
                try? await Task.sleep(for: .milliseconds(Int(deadline) + 1))
                pump()
            }
        }
    }

    private func pump() {
        guard !isClosed else { return }
        repeat {
            // The shim reports a lost bus as an event.
            _ = cbluez_bus_process(bus)
        } while drain()
        guard writer == nil, cbluez_bus_wants_write(bus) else { return }
        writer = Task {
            try? await socket.wait(for: .writable)
            writer = nil
            pump()
        }
    }

    /// Reads all pending events. Returns whether there were any.
    private func drain() -> Bool {
        var event = cbluez_bus_event()
        var isNew = false
        while cbluez_bus_next(bus, &event) == 1 {
            isNew = true
            if Int(event.kind) == CBLUEZ_EVENT_REPLY {
                answer(event)
            } else if let said = BusEvent(event) {
                sink.yield(said)
                if case .closed = said {
                    failCalls(.disconnected("the message bus has gone"))
                    socket.close()
                }
            }
        }
        return isNew
    }

    private func answer(_ event: cbluez_bus_event) {
        guard let caller = calls.removeValue(forKey: event.serial) else { return }
        let name = text(event.error_name)
        caller.resume(
            returning: name.isEmpty ? .success(()) : .failure(BusFailure(name: name, text: text(event.error_text))))
    }

    private func failCalls(_ failure: BusFailure) {
        let waiting = calls.values
        calls = [:]
        for caller in waiting { caller.resume(returning: .failure(failure)) }
    }
}

/// Bonds, and the agent that creates them.
extension BlueZBus {
    /// The path of the agent's object. A bus has one agent.
    private static let agentPath = "/org/roadmesh/agent"

    /// Makes this program bluetoothd's agent. It gets an event for each question, including those of pairings that
    /// others begin.
    func registerAgent() async throws(BusFailure) {
        try await call { cbluez_bus_register_agent($0, Self.agentPath, $1) }
        try await call { cbluez_bus_request_default_agent($0, Self.agentPath, $1) }
    }

    /// Removes the agent. bluetoothd counts an open question as answered with no.
    func unregisterAgent() async throws(BusFailure) {
        try await call { cbluez_bus_unregister_agent($0, Self.agentPath, $1) }
    }

    /// Answers a question. A cancelled question needs no answer.
    func answer(_ request: UInt32, isYes: Bool) {
        _ = now { cbluez_bus_answer_agent($0, request, isYes) }
    }

    /// Bonds with a device. Returns when the pairing is done, which takes as long as people need to answer.
    func pair(with device: String) async throws(BusFailure) {
        try await call(within: RadioLimits.pairingCall) { cbluez_bus_pair_device($0, device, $1) }
    }

    /// Ends the link and keeps the bond. bluetoothd needs two seconds for this, and does not need this connection for
    /// it.
    func disconnect(_ device: String) {
        let limit = Int32(RadioLimits.busCall / .milliseconds(1))
        _ = now { Int32(truncatingIfNeeded: cbluez_bus_disconnect_device($0, device, limit)) }
    }

    /// Sets the device's name in lists.
    func rename(_ device: String, _ alias: String) async throws(BusFailure) {
        try await call { cbluez_bus_set_alias($0, device, alias, $1) }
    }
}
