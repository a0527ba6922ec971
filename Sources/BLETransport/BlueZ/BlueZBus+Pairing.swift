// SPDX-License-Identifier: Apache-2.0

import CBlueZ

/// Bonds and the agent that makes them.
extension BlueZBus {
    /// The agent's object. One bus has one.
    private static let agentPath = "/org/roadmesh/agent"

    /// From now on bluetoothd asks us, also about pairings that others begin: an event for each question.
    func registerAgent() async throws(BusFailure) {
        try await call { cbluez_bus_register_agent($0, Self.agentPath, $1) }
        try await call { cbluez_bus_request_default_agent($0, Self.agentPath, $1) }
    }

    /// A question that is still open is answered with no.
    func unregisterAgent() async throws(BusFailure) {
        try await call { cbluez_bus_unregister_agent($0, Self.agentPath, $1) }
    }

    /// Answers a question. One that is void by now needs no answer.
    func answer(_ request: UInt32, isYes: Bool) {
        _ = now { cbluez_bus_answer_agent($0, request, isYes) }
    }

    /// Bonds with a device; returns when that is done, which takes as long as people do.
    func pair(with device: String) async throws(BusFailure) {
        try await call(within: RadioLimits.pairingCall) { cbluez_bus_pair_device($0, device, $1) }
    }

    /// Has the link dropped and the bond kept. bluetoothd takes two seconds for it, and does not need us meanwhile.
    func disconnect(_ device: String) {
        let limit = Int32(RadioLimits.busCall / .milliseconds(1))
        _ = now { Int32(truncatingIfNeeded: cbluez_bus_disconnect_device($0, device, limit)) }
    }

    /// What the device is called in lists from now on.
    func rename(_ device: String, _ alias: String) async throws(BusFailure) {
        try await call { cbluez_bus_set_alias($0, device, alias, $1) }
    }
}
