// SPDX-License-Identifier: Apache-2.0

import CSystemd
import Glibc
import MeshNode
import NodeCore
import ServiceLifecycle

/// Reports a host's state to the system's service manager, and that it is alive. The host counts as alive if its node
/// answers, not if its process exists. If the node hangs, the manager receives no more messages and restarts the host.
public struct Supervision: Service {
    private let events: AsyncStream<NodeEvent>
    private let answers: @Sendable () async -> Bool
    private let period: Duration?
    private let tell: @Sendable (String) -> Void

    /// The supervision of a node that does not run yet. Nil if no manager listens (sd_notify(3)). A crowd's votes are
    /// many events, and no program would read the messages.
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

    /// Half the time that the manager waits, as sd_watchdog_enabled(3) recommends. The next question waits for the
    /// answer.
    private func beat(every period: Duration) async {
        while await answers(), !Task.isCancelled {
            tell(SupervisionPolicy.beat)
            try? await Task.sleep(for: period / 2)
        }
    }
}
