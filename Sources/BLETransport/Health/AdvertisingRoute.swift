// SPDX-License-Identifier: Apache-2.0

import Bearers

/// Decides whether bluetoothd or the kernel puts an advertisement on the air.
///
/// Some kernels refuse all advertisements of bluetoothd (`docs/bluez.md`), and bluetoothd reports only that it has
/// failed. So after some failures this process asks the kernel, if it may. It also asks the kernel if bluetoothd has no
/// advertisement left: bluetoothd counts those of programs that were killed during a registration until it ends itself.
/// If the kernel accepts, it gets all later requests.
struct AdvertisingRoute: Sendable {
    /// The program to ask.
    enum Way: Hashable, Sendable {
        case service
        case kernel
    }

    /// The action after a failure.
    enum Step: Hashable, Sendable {
        /// Ask again after a pause.
        case retry
        /// Report it.
        case report
        /// Report this error of bluetoothd instead.
        case reportEarlier(BearerError)
        /// Report that the kernel refuses, if the adapter works otherwise.
        case reportRefusal
    }

    private enum State: Hashable {
        /// bluetoothd is asked. bluetoothd has failed this many times in a row.
        case service(failures: Int)
        /// bluetoothd has failed, and the kernel is asked for the first time. If the kernel fails too, this error of
        /// bluetoothd is reported, if there is one.
        case trial(BearerError?)
        /// The kernel advertises.
        case kernel
        /// bluetoothd has failed, and this process may not ask the kernel.
        case refused
    }

    private var state = State.service(failures: 0)

    /// Whether bluetoothd or the kernel is asked next.
    var way: Way {
        switch state {
        case .service, .refused: .service
        case .trial, .kernel: .kernel
        }
    }

    /// The kernel has accepted an advertisement that it had refused from bluetoothd.
    var bypassesService: Bool { state == .kernel }

    /// The last request has succeeded.
    mutating func worked() {
        state = way == .kernel ? .kernel : .service(failures: 0)
    }

    /// The last request has failed.
    mutating func failed(_ error: BearerError, mayAskKernel: Bool) -> Step {
        switch state {
        case .trial(.some(let earlier)): return restart(.reportEarlier(earlier))
        case .trial where error.code == .notPermitted: return refuse()
        case .trial: return restart(.report)
        case .service where error.code == .unsupported && mayAskKernel:
            state = .trial(error)
            return .retry
        case _ where error.code != .failed: return restart(.report)
        case .kernel: return restart(.retry)
        case .refused: return refuse()
        case .service(let failures) where failures + 1 < RadioLimits.registerTries:
            state = .service(failures: failures + 1)
            return .retry
        case .service where mayAskKernel:
            state = .trial(nil)
            return .retry
        case .service: return refuse()
        }
    }

    /// bluetoothd or the adapter has been replaced.
    mutating func forget() { state = .service(failures: 0) }

    private mutating func refuse() -> Step {
        state = .refused
        return .reportRefusal
    }

    private mutating func restart(_ step: Step) -> Step {
        forget()
        return step
    }
}
