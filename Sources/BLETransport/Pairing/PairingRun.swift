// SPDX-License-Identifier: Apache-2.0

import Bearers
import Logging
import MeshProtocol

/// One pairing, from the search for the other device to its outcome. It performs the actions of `Pairing`, with a radio
/// to find and talk to the device, and bluetoothd's agent for the pairing itself.
public actor PairingRun {
    /// The steps of the pairing, for one listener. The stream ends with the run.
    public nonisolated let updates: AsyncStream<PairingUpdate>
    /// The radio's kind and adapter: `bluez hci0`.
    public nonisolated let radioName: String

    /// Service that devices advertise and scan for to bond (`docs/protocol.md`, "Pairing").
    static let service = ServiceType.pairing.uuid

    let radio: BlueZBearer
    /// A bond belongs to this adapter. The radio gets its name, so it does not switch to another.
    let adapter: Adapter
    let logger: Logger
    private let name: String
    private let token: String
    private let wanted: String?
    private let sink: AsyncStream<PairingUpdate>.Continuation
    private let origin = ContinuousClock.now
    /// Events that are not decided yet.
    private let inbox: AsyncStream<Pairing.Event>
    let happened: AsyncStream<Pairing.Event>.Continuation
    private var alarm: Task<Void, Never>?

    // The other device (`PairingRun+Channel.swift`).
    var endpoints: [String: BearerEndpoint] = [:]
    var caller: L2CAPChannel?
    var channel: L2CAPChannel?
    var talking: Task<Void, Never>?
    /// Sends the messages in order, one after another.
    var saying: Task<Void, Never>?

    // The connection to bluetoothd (`PairingRun+Agent.swift`).
    var bus: BlueZBus?
    var devices: [String: KnownDevice] = [:]
    var question: UInt32?
    /// The device that Bluetooth must pair with, or has paired with.
    var partner: String?
    var pairing: Task<Void, Never>?

    /// A pairing of this device, named `name`, on an adapter. `wanted` is the name or address of the other device, or
    /// nil if only one is expected. Throws without an adapter.
    public init(
        adapter: String?, name: String, wanted: String?, logger: Logger = Logger(label: "roadmesh.pairing")
    ) throws(BearerError) {
        let adapter = try Adapter.find(adapter)
        self.adapter = adapter
        radio = try BlueZBearer(adapter: adapter.name, logger: logger)
        radioName = radio.name
        self.name = name
        self.wanted = wanted
        self.logger = logger
        token = Hex.text((0..<Advertisement.idPrefixBytes).map { _ in UInt8.random(in: 0...255) })
        (updates, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(RadioLimits.pairingEvents))
        (inbox, happened) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(RadioLimits.pairingEvents))
    }

    private var now: MeshInstant { ContinuousClock.now - origin }

    /// The person's answer to the digits.
    public nonisolated func answer(_ isSame: Bool) { happened.yield(.answered(isSame)) }

    /// Ends the run, and sends the reason to the other side.
    public nonisolated func stop() { happened.yield(.stopped) }

    /// Runs to the end. Throws if the radio or bluetoothd cannot start. Afterwards nothing advertises, no agent is
    /// registered, and there is either a full bond or none.
    public func run() async throws(BearerError) -> PairingOutcome {
        defer { sink.finish() }
        do throws(BearerError) {
            try await begin()
        } catch {
            await end()
            throw error
        }
        sink.yield(.looking)
        let outcome = await decide()
        await end()
        return outcome
    }

    private func begin() async throws(BearerError) {
        try await openAgent()
        try await radio.open()
        Task { for await event in radio.events { self.received(event) } }
        try await look()
    }

    private func decide() async -> PairingOutcome {
        var pairing = Pairing(name: name, token: token, wanted: wanted, now: now)
        setAlarm(pairing.deadline)
        for await event in inbox {
            logger.debug("pairing: \(event)")
            for action in pairing.handle(event, now: now) {
                if case .finish(let outcome) = action { return outcome }
                await perform(action)
            }
            setAlarm(pairing.deadline)
        }
        return .stopped
    }

    private func setAlarm(_ deadline: MeshInstant?) {
        alarm?.cancel()
        alarm = deadline.map { deadline in
            Task {
                try? await Task.sleep(until: origin + deadline, clock: .continuous)
                if !Task.isCancelled { happened.yield(.tick) }
            }
        }
    }

    private func end() async {
        alarm?.cancel()
        happened.finish()
        await closeAgent()
        await radio.close()
    }

    // MARK: Actions

    private func perform(_ action: Pairing.Action) async {
        logger.debug("pairing: \(action)")
        switch action {
        case .look: await lookOrFail()
        case .stopLooking:
            await radio.stopScanning()
            await radio.stopAdvertising()
        case .dial(let device): dial(device)
        case .takeCall: takeCall()
        case .refuseCall: refuseCall()
        case .hangUp: hangUp()
        case .send(let message): say(message)
        case .pair: pair()
        case .answer(let isYes): await answerQuestion(isYes)
        case .tell(let update): sink.yield(update)
        case .keep(let device): await keep(device)
        case .forget(let device): await forget(device)
        case .finish: break
        }
    }

    private func lookOrFail() async {
        do {
            try await look()
        } catch {
            happened.yield(.radioFailed(error))
        }
    }

    private func look() async throws(BearerError) {
        let peer = Peer(id: token, name: name)
        try await radio.advertise(Advertisement(service: Self.service, peer: peer), pace: .fast)
        try await radio.scan(for: Self.service)
    }
}
