// SPDX-License-Identifier: Apache-2.0

import CBlueZ
import Glibc

/// Collects what can be known of this box's Bluetooth, and changes nothing.
public enum RadioCheckup {
    /// Looks at everything. It takes as long as the slowest answer, and never longer than `RadioLimits.checkup` a part.
    public static func collect() async throws(RadioError) -> RadioFacts {
        let poller = try Poller()
        defer { poller.close() }
        async let daemon = DaemonFacts.running()
        async let bus = BusLook.look(poller)
        let kernel = await kernel(poller)
        let look = await bus
        return await RadioFacts(
            kernel: kernel.completed(by: look), block: KillSwitch.block(of: nil).map { RadioFailure($0) },
            service: look.service, daemon: daemon,
            permissions: .ofThisProcess())
    }

    private static func kernel(_ poller: Poller) async -> RadioFacts.Kernel {
        let adapters: [Adapter]
        do {
            adapters = try Adapter.all()
        } catch {
            return error.code == .noAdapter ? .hasNone : .silent(RadioFailure(error))
        }
        let control = cbluez_hci_open_control()
        defer { if control >= 0 { close(control) } }
        var facts: [AdapterFacts] = []
        for adapter in adapters { facts.append(await AdapterFacts.of(adapter, control: control, poller: poller)) }
        return .adapters(facts)
    }
}

extension RadioFacts.Kernel {
    fileprivate func completed(by look: BusLook) -> Self {
        guard case .adapters(let adapters) = self else { return self }
        return .adapters(
            adapters.map { facts in
                var facts = facts
                look.complete(&facts)
                return facts
            })
    }
}
