// SPDX-License-Identifier: Apache-2.0

import CSystemd
import Glibc
import MeshNode
import NodeCore
import ServiceLifecycle

/// Reports to the system's service manager that a host is alive, and its state. The host counts as alive only if its
/// node answers. If the node hangs, the manager receives no more messages and restarts the host.
public struct Supervision: Service {
    private let events: AsyncStream<NodeEvent>
    private let answers: @Sendable () async -> Bool
    private let period: Duration?
    private let tell: @Sendable (String) -> Void

    /// Creates the supervision of a node that does not run yet. Nil if no manager listens (sd_notify(3)): the node then
    /// need not produce events that no program reads.
    public init?(node: Node) {
        guard getenv("NOTIFY_SOCKET") != nil else { return nil }
        let microseconds = csystemd_supervision_watchdog()
        self.init(
            events: node.events(), period: microseconds > 0 ? .microseconds(microseconds) : nil,
            answers: { await node.answers() },
            tell: { _ = csystemd_supervision_tell($0) })
    }

    init(
        events: AsyncStream<NodeEvent>, period: Duration?, answers: @escaping @Sendable () async -> Bool,
        tell: @escaping @Sendable (String) -> Void
    ) {
        self.events = events
        self.period = period
        self.answers = answers
        self.tell = tell
    }

    /// Runs until the node ends.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            if let period { group.addTask { await beat(every: period) } }
            var policy = SupervisionPolicy()
            for await event in events {
                for message in policy.handle(event) { tell(message) }
            }
            group.cancelAll()
        }
    }

    /// Checks the node after each half of the time that the manager waits, as sd_watchdog_enabled(3) recommends. Each
    /// check starts after the last one has its answer.
    private func beat(every period: Duration) async {
        while await answers(), !Task.isCancelled {
            tell(SupervisionPolicy.beat)
            try? await Task.sleep(for: period / 2)
        }
    }
}
