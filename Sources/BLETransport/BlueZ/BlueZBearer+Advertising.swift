// SPDX-License-Identifier: Apache-2.0

import Bearers
import CBlueZ
import Glibc
import MeshProtocol

extension BlueZBearer {
    /// The flags of this radio, which show whether it requires a bond.
    public nonisolated var advertisedFlags: AdvertisedFlags {
        AdvertisedFlags(critical: demands)
    }

    /// Advertises through bluetoothd, and accepts channels on a dynamic PSM.
    public func advertise(_ advertisement: Advertisement, pace: AdvertisingPace) async throws(BearerError) {
        try listen()
        let isNew = wantedAdvertisement == nil
        wantedAdvertisement = (advertisement, pace)
        if isNew { lookAtLinks() }
        do {
            try await applyAdvertisement()
        } catch {
            supervise(.advertisingFailed(error))
            throw error
        }
    }

    /// Stops advertising, and stops accepting channels. Open channels stay.
    public func stopAdvertising() async {
        wantedAdvertisement = nil
        supervise(.advertisingStopped)
        stopListening()
        _ = await advertising?.value
        await unregister()
        await endAdvertisingByKernel()
    }

    private func unregister() async {
        guard let (path, adapter) = registered else { return }
        registered = nil
        // The registration may be gone already, which is the goal.
        try? await bus?.unregister(path, on: adapter)
    }

    /// Registers the wanted advertisement again. Legacy advertising ends whenever a guest links, and bluetoothd does
    /// not restart it. So "registered" does not mean "on the air". Requests during a registration count as one.
    func applyAdvertisement() async throws(BearerError) {
        needsRenewal = true
        if advertising == nil {
            advertising = Task {
                let result = await registerUntilDone()
                advertising = nil
                if case .success = result, wasAdvertisementLost { supervise(.advertisingBack) }
                wasAdvertisementLost = false
                return result
            }
        }
        try await advertising?.value.get()
    }

    private func registerUntilDone() async -> Result<Void, BearerError> {
        var result: Result<Void, BearerError> = .success(())
        let wasRegistered = registered != nil
        while needsRenewal {
            needsRenewal = false
            result = await registerAnew()
            guard case .failure(var error) = result else {
                advertisingRoute.worked()
                continue
            }
            result = .failure(explained(error))
            // When the adapter goes off, bluetoothd reports only that it failed.
            if (try? Adapter.find(adapter.name))?.isUp != true { error = explained(error) }
            switch advertisingRoute.failed(error, mayAskKernel: permissions.mayAdminister) {
            case .retry:
                // If a controller has lost its advertising, the first registration fails because of the remains of the
                // old one.
                if wasRegistered { wasAdvertisementLost = true }
                try? await Task.sleep(for: RadioLimits.registerPause)
                needsRenewal = wantedAdvertisement != nil && !isClosed
            case .report: break
            case .reportEarlier(let earlier): result = .failure(earlier)
            case .reportRefusal:
                if await isRefusedByKernel() {
                    result = .failure(BearerError(.advertisingRefused, KernelName.running))
                }
            }
        }
        return result
    }

    /// Cancels open registrations. If the adapter goes off during a registration, bluetoothd answers within
    /// milliseconds, or never (bluetoothd 5.66).
    func giveUpRegistering() async {
        guard let bus, case let underWay = await bus.registrations, !underWay.isEmpty else { return }
        Task {
            try? await Task.sleep(for: RadioLimits.registerGrace)
            await bus.giveUp(underWay)
        }
    }

    /// Advertises again, without waiting for the result.
    func renewAdvertisement() {
        guard wantedAdvertisement != nil else { return }
        Task {
            do throws(BearerError) {
                try await applyAdvertisement()
            } catch {
                logger.warning("advertising again failed: \(error)")
                supervise(.advertisingFailed(error))
            }
        }
    }

    private func registerAnew() async -> Result<Void, BearerError> {
        guard let bus, let (wanted, pace) = wantedAdvertisement else { return .success(()) }
        await serveGatt(of: wanted.service)
        let advertisement = advertised(wanted)
        await unregister()
        applySettings()
        guard advertisingRoute.way == .service else { return await registerWithKernel(advertisement) }
        do throws(BusFailure) {
            await endAdvertisingByKernel()
            advertisements += 1
            let path = "/org/roadmesh/advertisement\(advertisements)"
            // Set this even if the call fails: if the kernel never answers because the adapter goes off, bluetoothd
            // counts the registration permanently.
            registered = (path, adapter.path)
            try await bus.register(advertisement, psm: psm, pace: pace, as: path, on: adapter.path)
            supervise(.advertised)
            return .success(())
        } catch {
            return .failure(error.radioError)
        }
    }

    private func registerWithKernel(_ advertisement: Advertisement) async -> Result<Void, BearerError> {
        do throws(BearerError) {
            try await advertiseByKernel(advertisement)
            if !advertisingRoute.bypassesService {
                logger.warning("bluetoothd cannot advertise; advertising through the kernel instead")
            }
            supervise(.advertised)
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    /// The wanted advertisement with this radio's flags.
    func advertised(_ wanted: Advertisement) -> Advertisement {
        var advertisement = wanted
        advertisement.flags = wanted.flags.union(advertisedFlags)
        if gatt.hasPlaces { advertisement.flags.ignorable.insert(.gatt) }
        return advertisement
    }

    // MARK: Accepting

    func stopListening() {
        for listener in listeners { listener.stop() }
        listeners = []
    }

    /// Opens two listeners. A phone's system passes its channels to apps as streams and does not say how it splits
    /// them, so their SDUs carry their own lengths.
    func listen() throws(BearerError) {
        guard listeners.isEmpty else { return }
        do throws(BearerError) {
            for isForStreams in [false, true] { listeners.append(try listener(isForStreams: isForStreams)) }
        } catch {
            stopListening()
            throw error
        }
    }

    private func listener(isForStreams: Bool) throws(BearerError) -> Listener {
        var address = adapter.address.kernelAddress
        var options = Self.channelOptions
        // The kernel then requires encryption with a bond's key before it accepts a channel (`docs/bluez.md`).
        if requiresBond { options.security_level = LinkSecurity.bondLevel }
        var bound: UInt16 = 0
        let descriptor = cbluez_l2cap_listen(&address, 0, &options, Int32(Limits.halfOpenLinks), &bound)
        guard descriptor >= 0 else { throw Self.socketError(-descriptor) }
        let socket = PacketSocket(descriptor, poller: poller)
        let accepting = Task { await self.accept(on: socket, isForStreams: isForStreams) }
        return Listener(
            socket: socket, psm: UInt8(truncatingIfNeeded: bound), isForStreams: isForStreams, accepting: accepting)
    }

    private func accept(on listener: PacketSocket, isForStreams: Bool) async {
        var peer = cbluez_address()
        while let caller = await listener.nextCaller(logger: logger, { Int(cbluez_l2cap_accept($0, &peer)) }) {
            let channel = channel(caller, to: BearerEndpoint(peer), isDialled: false)
            if requiresBond, channel.security?.isOfBond != true { channel.refuse(.bond) }
            eventSink.yield(.accepted(isForStreams ? channel.carryingStream : channel as any BearerChannel))
        }
    }

    static var channelOptions: cbluez_l2cap_options {
        cbluez_l2cap_options(
            receive_mtu: UInt16(Limits.sduBytes), send_buffer: UInt32(BearerLimits.channelBufferBytes),
            receive_buffer: 0,
            security_level: 0)
    }

    static func socketError(_ code: Int32) -> BearerError {
        switch code {
        case EPERM, EACCES: BearerError(.notPermitted, SystemError.text(code))
        case ENODEV, EADDRNOTAVAIL: BearerError(.noAdapter, SystemError.text(code))
        case ENETDOWN, EHOSTUNREACH: BearerError(.radioOff, SystemError.text(code))
        case EAFNOSUPPORT, EPROTONOSUPPORT: BearerError(.unsupported, SystemError.text(code))
        default: BearerError(.failed, SystemError.text(code))
        }
    }
}

/// A listening socket and its PSM.
struct Listener: Sendable {
    let socket: PacketSocket
    let psm: UInt8
    /// Whether the listener's channels carry streams.
    let isForStreams: Bool
    let accepting: Task<Void, Never>

    func stop() {
        accepting.cancel()
        socket.close()
    }
}

extension BearerChannel {
    /// Reads this channel as a stream of SDUs.
    var carryingStream: any BearerChannel { FramedChannel(self, framing: StreamPieces()) }
}
