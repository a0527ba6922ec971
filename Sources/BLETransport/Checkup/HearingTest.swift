// SPDX-License-Identifier: Apache-2.0

import Logging
import MeshProtocol

/// The proof of it all: one radio advertises, and another one hears it. Nobody else takes the two for a host, since the
/// service is one of its own.
public struct HearingTest: Sendable {
    /// How it went.
    public enum Outcome: Hashable, Sendable {
        /// It was heard: how long after the listener began, and how loud (dBm).
        case heard(after: Duration, rssi: Int?)
        /// Nothing was heard in this time.
        case silence(Duration)
        /// There is nobody to listen, but it advertises.
        case advertised
        /// It cannot advertise.
        case cannotAdvertise(RadioFailure)
        /// The other one cannot listen.
        case cannotListen(RadioFailure)
    }

    /// Who advertised.
    public var from: String
    /// Who listened; nil where there was nobody.
    public var to: String?
    /// How it went.
    public var outcome: Outcome

    /// A test that was made.
    public init(from: String, to: String?, outcome: Outcome) {
        self.from = from
        self.to = to
        self.outcome = outcome
    }

    /// Two adapters hear one another, each the other; one alone advertises.
    public static func run(adapters: [String], logger: Logger) async -> [Self] {
        let radio = { (name: String) throws(RadioError) -> any Radio in try BlueZRadio(adapter: name, logger: logger) }
        guard adapters.count > 1 else {
            guard let alone = adapters.first else { return [] }
            return [
                Self(
                    from: alone, to: nil,
                    outcome: await run(from: { () throws(RadioError) in try radio(alone) }, to: nil))
            ]
        }
        var tests: [Self] = []
        for (from, to) in [(adapters[0], adapters[1]), (adapters[1], adapters[0])] {
            let outcome = await run(
                from: { () throws(RadioError) in try radio(from) }, to: { () throws(RadioError) in try radio(to) })
            tests.append(Self(from: from, to: to, outcome: outcome))
        }
        return tests
    }

    /// Makes two radios for a test, and gives them back after it.
    public static func run(
        from advertiser: () throws(RadioError) -> any Radio, to listener: (() throws(RadioError) -> any Radio)?,
        within limit: Duration = RadioLimits.hearing
    ) async -> Outcome {
        let advertisement = Advertisement(
            service: service, peer: Peer(id: Identity.make().peerID, name: "roadmesh doctor"))
        let from: any Radio
        do throws(RadioError) {
            from = try advertiser()
        } catch {
            return .cannotAdvertise(RadioFailure(error))
        }
        var outcome = Outcome.advertised
        do throws(RadioError) {
            try await from.open()
            try await from.advertise(advertisement, pace: .fast)
            if let listener { outcome = await listen(listener, for: advertisement, limit) }
        } catch {
            outcome = .cannotAdvertise(RadioFailure(error))
        }
        await from.close()
        return outcome
    }

    /// `roadmesh-doctor`
    private static let service: ServiceUUID = {
        guard let type = try? ServiceType("roadmesh-doctor") else { preconditionFailure("it has fifteen letters") }
        return type.uuid
    }()

    private static func listen(
        _ listener: () throws(RadioError) -> any Radio, for advertisement: Advertisement, _ limit: Duration
    ) async -> Outcome {
        let to: any Radio
        do throws(RadioError) {
            to = try listener()
        } catch {
            return .cannotListen(RadioFailure(error))
        }
        var outcome: Outcome
        do throws(RadioError) {
            try await to.open()
            let began = ContinuousClock.now
            try await to.scan(for: service)
            outcome =
                await hear(advertisement, to.events, limit).map { .heard(after: $0.at - began, rssi: $0.rssi) }
                ?? .silence(limit)
        } catch {
            outcome = .cannotListen(RadioFailure(error))
        }
        await to.close()
        return outcome
    }

    private static func hear(
        _ advertisement: Advertisement, _ events: AsyncStream<RadioEvent>, _ limit: Duration
    ) async -> (at: ContinuousClock.Instant, rssi: Int?)? {
        await withTaskGroup(of: (at: ContinuousClock.Instant, rssi: Int?)?.self) { group in
            group.addTask {
                for await case .heard(let sighting) in events
                where sighting.advertisement.idPrefix == advertisement.idPrefix {
                    return (.now, sighting.rssi)
                }
                return nil
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}
