// SPDX-License-Identifier: Apache-2.0

import Glibc
import MeshProtocol
import Testing

@testable import Dashboard

@Suite("Retries of a page that cannot listen")
struct ListeningPolicyTests {
    @Test("the pauses between retries become longer, and each cause is reported once")
    func pauses() {
        var policy = ListeningPolicy()
        var now = MeshInstant.zero
        var told: [Bool] = []
        var pauses: [MeshInstant] = []
        for cause in ["gone", "gone", "gone", "taken", "taken", "taken"] {
            told.append(policy.failed(cause, now: now))
            let next = policy.retryAt ?? now
            pauses.append(next - now)
            now = next
        }
        #expect(told == [true, false, false, true, false, false])
        #expect(pauses == [1, 2, 4, 8, 10, 10].map { .seconds($0) })
        policy.listens()
        #expect(policy.cause == nil && policy.retryAt == nil)
    }

    @Test("only a cause that no network and no other program can change is permanent")
    func lasting() {
        for code in [EADDRNOTAVAIL, EADDRINUSE, ENODEV, ENETDOWN, EMFILE, ENOBUFS] {
            #expect(!ListeningPolicy.isLasting(code))
        }
        for code in [EACCES, EAFNOSUPPORT] { #expect(ListeningPolicy.isLasting(code)) }
    }
}
