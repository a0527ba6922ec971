// SPDX-License-Identifier: Apache-2.0

import Bearers
import CBlueZ
import Glibc
import MeshProtocol

/// The GATT service of a radio.
struct GattState: Sendable {
    /// The application that was registered last, and its adapter. It must be unregistered before the next one.
    var registered: (path: String, adapter: String)?
    /// Whether bluetoothd has the application, as far as this node knows.
    var isServed = false
    /// Why the last registration failed.
    var failure = ""
    var characteristics: [GattCharacteristic] = []
    var places = GattPlaces()
    /// By slot: the socket for notifications to the subscribed device, until a channel takes it over.
    var subscriptions: [Int: PacketSocket] = [:]
    /// The channels by slot.
    var channels: [Int: WeakChannel] = [:]

    /// Whether devices can link over chunks.
    var hasPlaces: Bool { isServed && characteristics.contains(.place) }
}

/// A GATT service. Phones read the PSM of their streams from it. Devices that have only GATT link over it
/// (`docs/protocol.md`, "GATT").
extension BlueZBearer {
    private static let application = "/org/roadmesh/gatt"

    /// Registers the service, unless bluetoothd has it. The host works without it, since other nodes find it by L2CAP.
    func serveGatt(of service: ServiceUUID) async {
        guard let bus, !gatt.isServed else { return }
        if let (path, adapter) = gatt.registered { try? await bus.unregister(application: path, on: adapter) }
        let characteristics = GattCharacteristic.all(withPlaces: !requiresBond)
        gatt.registered = (Self.application, adapter.path)
        gatt.characteristics = characteristics
        do throws(BusFailure) {
            try await bus.register(
                application: Self.application, with: characteristics, of: service, on: adapter.path)
            gatt.isServed = true
        } catch {
            // It is retried with each registration of the advertisement.
            if gatt.failure != error.name { logger.warning("no GATT service: \(error.name) \(error.text)") }
            gatt.failure = error.name
        }
    }

    /// Unregisters the service.
    func stopServingGatt() async {
        for subscription in gatt.subscriptions.values { subscription.close() }
        gatt.isServed = false
        guard let (path, adapter) = gatt.registered else { return }
        gatt.registered = nil
        try? await bus?.unregister(application: path, on: adapter)
    }

    /// A device has disconnected. Its GATT links have ended as well, and no other event may report this.
    func gattLinkLost(_ address: String) {
        for place in gatt.places.lost(devicePath(address)) {
            gatt.subscriptions.removeValue(forKey: place)?.close()
            (gatt.channels.removeValue(forKey: place)?.channel as? GattChannel)?.lose()
        }
    }

    // MARK: Requests of devices

    /// Answers a request of a device, which bluetoothd passes on.
    func answer(_ question: GattQuestion) async {
        guard let bus, let (advertisement, _) = wantedAdvertisement,
            gatt.characteristics.indices.contains(question.characteristic),
            question.device.hasPrefix(adapter.path + "/")
        else {
            await bus?.refuse(question)
            return
        }
        switch gatt.characteristics[question.characteristic] {
        case .psm: await bus.answer(question, with: [streamPSM, 0])
        case .payload:
            let advertised = advertised(advertisement)
            await bus.answer(question, with: advertised.payload(psm: psm) + advertised.tail)
        case .place: await bus.answer(question, with: [keepPlace(for: question.device)])
        case .toGuest(let place): await subscribe(question, to: place, bus)
        case .toHost(let place): await open(question, place, bus)
        }
    }

    private func keepPlace(for device: String) -> UInt8 {
        guard let place = gatt.places.ask(device, now: now) else { return .max }
        // Close the subscription of a device that did not continue in time, or of this device's last attempt.
        gatt.subscriptions.removeValue(forKey: place)?.close()
        return UInt8(place)
    }

    private func subscribe(_ question: GattQuestion, to place: Int, _ bus: BlueZBus) async {
        guard gatt.places.subscribe(question.device, to: place, now: now), let (ours, theirs) = pair() else {
            return await bus.refuse(question)
        }
        gatt.subscriptions.updateValue(ours, forKey: place)?.close()
        await bus.answer(question, handingOver: theirs)
    }

    private func open(_ question: GattQuestion, _ place: Int, _ bus: BlueZBus) async {
        guard let endpoint = devices[question.device]?.address,
            let link = gatt.places.write(question.device, to: place, now: now)
        else { return await bus.refuse(question) }
        guard let outgoing = gatt.subscriptions.removeValue(forKey: place),
            let values = await bus.takeWrites(question)
        else {
            gatt.places.ended(link)
            return await bus.refuse(question)
        }
        let incoming = PacketSocket(values, poller: poller)
        var peer = endpoint.kernelAddress
        let found = cbluez_hci_link_handle(adapter.index, &peer)
        let handle = UInt16(exactly: found) ?? UInt16(CBLUEZ_HANDLE_UNKNOWN)
        let channel = GattChannel(
            incoming: incoming, outgoing: outgoing, endpoint: endpoint, mtu: question.mtu, handle: handle,
            link: channelLink(isDialled: false)
        ) { [weak self] in
            Task { await self?.gattChannelClosed(link, endpoint.address, handle) }
        }
        gatt.channels[place] = WeakChannel(channel: channel)
        opened(channel, on: handle, isDialled: false)
        eventSink.yield(.accepted(channel.carryingChunks))
    }

    private func gattChannelClosed(_ link: Int, _ address: String, _ handle: UInt16) {
        gatt.places.ended(link)
        channelClosed(address, handle, isDialled: false)
    }

    /// A connected pair of sockets. bluetoothd gets `theirs`. Both are non-blocking, since a blocking socket would
    /// stall bluetoothd.
    private func pair() -> (ours: PacketSocket, theirs: Int32)? {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            logger.warning("no descriptors for a GATT link: \(SystemError.text(errno))")
            return nil
        }
        var bytes = Int32(RadioLimits.gattBufferBytes)
        setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
        return (PacketSocket(ends[0], poller: poller), ends[1])
    }

    private func devicePath(_ address: String) -> String {
        adapter.path + "/dev_" + address.replacing(":", with: "_")
    }
}

/// Registers the application, and answers its requests.
extension BlueZBus {
    func register(
        application path: String, with characteristics: [GattCharacteristic], of service: ServiceUUID,
        on adapter: String
    ) async throws(BusFailure) {
        try await call(registers: true) { bus, timeout in
            let texts = characteristics.map { strdup($0.uuid) }
            defer { for text in texts { free(text) } }
            let table = zip(texts, characteristics).map {
                cbluez_characteristic(uuid: $0, kind: $1.kind, buffer: $1.buffer)
            }
            return service.description.withCString {
                cbluez_bus_register_application(bus, adapter, path, $0, table, table.count, timeout)
            }
        }
    }

    func unregister(application path: String, on adapter: String) async throws(BusFailure) {
        try await call { cbluez_bus_unregister_application($0, adapter, path, $1) }
    }

    /// Answers a read.
    func answer(_ question: GattQuestion, with value: [UInt8]) {
        _ = now { cbluez_bus_answer_read($0, question.request, value, value.count) }
    }

    /// Answers with a descriptor, and closes it.
    func answer(_ question: GattQuestion, handingOver descriptor: Int32) {
        _ = now { cbluez_bus_answer_acquire($0, question.request, descriptor, UInt16(clamping: question.mtu)) }
        Glibc.close(descriptor)
    }

    /// Takes the socket with the values that the device writes. Nil if the request is void.
    func takeWrites(_ question: GattQuestion) -> Int32? {
        now { cbluez_bus_take_writes($0, question.request) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// Refuses the request of the device.
    func refuse(_ question: GattQuestion) {
        _ = now { cbluez_bus_refuse_gatt($0, question.request) }
    }
}
