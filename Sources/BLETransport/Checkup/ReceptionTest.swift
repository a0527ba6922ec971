// SPDX-License-Identifier: Apache-2.0

import Logging
import MeshProtocol

/// A live test: one radio advertises, and another one listens for it. Nobody else takes the two for a host, since they
/// use a service of their own.
public struct ReceptionTest: Sendable {
    /// How it went.
    public enum Outcome: Hashable, Sendable {
        /// It was heard: how long after the listener began, and how strong (dBm).
        case heard(after: Duration, rssi: Int?)
        /// Nothing was heard in this time.
        case silence(Duration)
        /// It advertises; there is no second radio to listen.
        case advertised
        /// It cannot advertise.
        case cannotAdvertise(RadioError)
        /// The other one cannot listen.
        case cannotListen(RadioError)
    }

    /// Makes a radio for a test.
    public typealias RadioMaker = () throws(RadioError) -> any Radio

    /// The adapter that advertised.
    public var from: String
    /// The adapter that listened; nil where there was none.
    public var to: String?
    /// How it went.
    public var outcome: Outcome

    /// Tests two adapters, each listening for the other; a single one only advertises.
    public static func run(adapters: [String], logger: Logger) async -> [Self] {
        func maker(_ name: String) -> RadioMaker {
            { () throws(RadioError) in try BlueZRadio(adapter: name, logger: logger) }
        }
        let pairs: [(String, String?)] =
            adapters.count > 1 ? [(adapters[0], adapters[1]), (adapters[1], adapters[0])] : adapters.map { ($0, nil) }
        var tests: [Self] = []
        for (from, to) in pairs {
            tests.append(Self(from: from, to: to, outcome: await run(from: maker(from), to: to.map(maker))))
        }
        return tests
    }

    /// Makes two radios for a test, and closes them after it.
    public static func run(
        from advertiser: RadioMaker, to listener: RadioMaker?, within limit: Duration = RadioLimits.reception
    ) async -> Outcome {
        let advertisement = Advertisement(
            service: service, peer: Peer(id: Identity.make().peerID, name: "roadmesh doctor"))
        return await using(advertiser, Outcome.cannotAdvertise) { from throws(RadioError) in
            try await from.advertise(advertisement, pace: .fast)
            guard let listener else { return .advertised }
            return await using(listener, Outcome.cannotListen) { to throws(RadioError) in
                let began = ContinuousClock.now
                try await to.scan(for: service)
                return await hear(advertisement, to.events, since: began, within: limit)
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
        _ make: RadioMaker, _ failed: (RadioError) -> Outcome,
        _ body: (any Radio) async throws(RadioError) -> Outcome
    ) async -> Outcome {
        do throws(RadioError) {
            let radio = try make()
            let outcome: Outcome
            do throws(RadioError) {
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

    private static func hear(
        _ advertisement: Advertisement, _ events: AsyncStream<RadioEvent>, since began: ContinuousClock.Instant,
        within limit: Duration
    ) async -> Outcome {
        await withTaskGroup(of: Outcome?.self) { group in
            group.addTask {
                for await case .heard(let result) in events
                where result.advertisement.idPrefix == advertisement.idPrefix {
                    return .heard(after: .now - began, rssi: result.rssi)
                }
                return nil
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            return (await group.next()).flatMap(\.self) ?? .silence(limit)
        }
    }
}
