// SPDX-License-Identifier: Apache-2.0

import Bearers
import Logging
import MeshProtocol

/// A live test: one radio advertises as a node does, and another one scans and measures how often it hears the
/// advertisement. The test uses its own service, so no node counts the two as hosts.
public struct ReceptionTest: Sendable {
    /// The result of a test.
    public enum Outcome: Hashable, Sendable {
        /// The advertisement was heard. `after` is the time since the scan began, `rssi` is in dBm. `every` is the
        /// advertising interval if this is longer than the start of a scan, about 50 ms. Otherwise it is at least the
        /// interval. It is nil if the advertisement was heard only once.
        case heard(after: Duration, every: Duration?, rssi: Int?)
        /// Nothing was heard in this time.
        case silence(Duration)
        /// The adapter advertises, but a second radio to listen is missing.
        case advertised
        /// The adapter advertises, without a second radio. A node hosts on the adapter, and its guests needed at least
        /// this time to dial it. So its advertising interval is at most this time, and at least half of it.
        case found(within: DialTime)
        /// bluetoothd ended during the test, so no other result counts.
        case serviceEnded
        /// The first radio cannot advertise.
        case cannotAdvertise(BearerError)
        /// The second radio cannot listen.
        case cannotListen(BearerError)
    }

    /// Makes a radio for a test.
    public typealias RadioMaker = () throws(BearerError) -> any Bearer

    /// The adapter that advertised.
    public var from: String
    /// The adapter that listened. Nil without a second adapter.
    public var to: String?
    /// The result.
    public var outcome: Outcome
    /// The kernel's name if it refuses advertisements from bluetoothd and the test asked the kernel itself.
    public var bypassed: String?

    /// Tests two adapters, each in both roles. A single one only advertises. `settings` are those of the node to be
    /// tested, and decide how often it advertises. If bluetoothd ends during a test, that is the only result.
    public static func run(adapters: [String], settings: AdapterSettingsPolicy, logger: Logger) async -> [Self] {
        let pairs: [(String, String?)] =
            adapters.count > 1 ? [(adapters[0], adapters[1]), (adapters[1], adapters[0])] : adapters.map { ($0, nil) }
        var tests: [Self] = []
        for (from, to) in pairs {
            let watch = await ServiceWatch.begin()
            let test = await run(from, to, settings, logger)
            guard await watch?.end() != true else { return [Self(from: from, to: to, outcome: .serviceEnded)] }
            tests.append(test)
        }
        return tests
    }

    private static func run(
        _ from: String, _ to: String?, _ settings: AdapterSettingsPolicy, _ logger: Logger
    ) async -> Self {
        func maker(_ name: String) -> RadioMaker {
            { () throws(BearerError) in try BlueZBearer(adapter: name, settings: settings, logger: logger) }
        }
        let advertiser: BlueZBearer
        do throws(BearerError) {
            advertiser = try BlueZBearer(adapter: from, settings: settings, logger: logger)
        } catch {
            return Self(from: from, to: to, outcome: .cannotAdvertise(error))
        }
        var outcome = await run(from: { advertiser }, to: to.map(maker))
        if outcome == .advertised, let time = found(from, settings.folder) { outcome = .found(within: time) }
        let isBypassed = await advertiser.advertisingRoute.bypassesService
        return Self(from: from, to: to, outcome: outcome, bypassed: isBypassed ? KernelName.running : nil)
    }

    private static func found(_ adapter: String, _ folder: String) -> DialTime? {
        guard let adapter = try? Adapter.find(adapter) else { return nil }
        return FoundRecord.read(folder: folder, address: adapter.address.address)
    }

    /// Creates two radios for a test, and closes them afterwards.
    public static func run(
        from advertiser: RadioMaker, to listener: RadioMaker?, within limit: Duration = RadioLimits.reception
    ) async -> Outcome {
        let advertisement = Advertisement(
            service: service, peer: Peer(id: Identity.make().peerID, name: "roadmesh doctor"))
        return await using(advertiser, Outcome.cannotAdvertise) { from throws(BearerError) in
            try await from.advertise(advertisement, pace: .fast)
            guard let listener else { return .advertised }
            return await using(listener, Outcome.cannotListen) { to throws(BearerError) in
                try await hear(advertisement, on: to, within: limit)
            }
        }
    }

    /// `roadmesh-doctor`
    private static let service: ServiceUUID = {
        guard let type = try? ServiceType("roadmesh-doctor") else { preconditionFailure("it has fifteen letters") }
        return type.uuid
    }()

    /// Opens a radio for `body`, and closes it afterwards.
    private static func using(
        _ make: RadioMaker, _ failed: (BearerError) -> Outcome,
        _ body: (any Bearer) async throws(BearerError) -> Outcome
    ) async -> Outcome {
        do throws(BearerError) {
            let radio = try make()
            let outcome: Outcome
            do throws(BearerError) {
                try await radio.open()
                outcome = try await body(radio)
            } catch {
                outcome = failed(error)
            }
            await radio.close()
            return outcome
        } catch {
            return failed(error)
        }
    }

    // MARK: Scanning

    private struct Hearing: Sendable {
        var time: ContinuousClock.Instant
        var rssi: Int?
    }

    /// Waits until an advertisement is heard, then restarts the scan again and again. A scan reports an advertiser
    /// once, at its next advertisement. So the time between two reports is one interval, if a scan starts faster than
    /// that.
    private static func hear(_ advertisement: Advertisement, on radio: any Bearer, within limit: Duration)
        async throws(BearerError) -> Outcome
    {
        let (hearings, sink) = AsyncStream.makeStream(of: Hearing.self, bufferingPolicy: .bufferingNewest(1))
        let pump = Task {
            for await case .heard(let result) in radio.events
            where result.advertisement.idPrefix == advertisement.idPrefix {
                sink.yield(Hearing(time: .now, rssi: result.rssi))
            }
            sink.finish()
        }
        defer { pump.cancel() }
        let began = ContinuousClock.now
        try await radio.scan(for: service)
        guard let first = await next(of: hearings, after: began, within: limit) else { return .silence(limit) }
        var times = [first.time]
        while times.count <= RadioLimits.measuredIntervals {
            await radio.stopScanning()
            let restarted = ContinuousClock.now
            try await radio.scan(for: service)
            let rest = RadioLimits.measuring - first.time.duration(to: .now)
            guard let again = await next(of: hearings, after: restarted, within: rest) else { break }
            times.append(again.time)
        }
        let intervals = zip(times.dropFirst(), times).map { $0 - $1 }.sorted()
        return .heard(after: first.time - began, every: intervals.first, rssi: first.rssi)
    }

    /// The first hearing after `moment`. Nil if none comes in time; the sequence has then ended.
    private static func next(
        of hearings: AsyncStream<Hearing>, after moment: ContinuousClock.Instant, within limit: Duration
    ) async -> Hearing? {
        await withTaskGroup(of: Hearing?.self) { group in
            group.addTask { await hearings.first { $0.time > moment } }
            group.addTask {
                try? await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            return (await group.next()).flatMap(\.self)
        }
    }
}
