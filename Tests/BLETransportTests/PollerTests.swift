// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import Bearers

@Suite("Waiting for sockets", .timeLimit(.minutes(5)))
struct PollerTests {
    @Test("a dial gets no events of an earlier socket with the same number")
    func reusedNumber() async throws {
        let poller = try Poller()
        defer { poller.close() }
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { Glibc.close(end) } }
        // No data is written to it, so it never becomes readable.
        let descriptor = ends[0]
        let (stream, ended) = AsyncStream<Int>.makeStream()
        func wait(_ number: Int) {
            Task {
                _ = await withCheckedContinuation { poller.add($0, for: .readable, on: descriptor) }
                ended.yield(number)
            }
        }
        var waits = stream.makeAsyncIterator()
        wait(1)
        while poller.owner(of: descriptor) == nil { await Task.yield() }
        let first = try #require(poller.owner(of: descriptor))
        poller.forget(descriptor)
        #expect(await waits.next() == 1)
        wait(2)
        while poller.owner(of: descriptor) == nil { await Task.yield() }
        // epoll reported it in the same round as another event, and it is handled late.
        poller.ready(Poller.token(descriptor, first), UInt32(POLLHUP))
        let second = try #require(poller.owner(of: descriptor))
        #expect(second != first && poller.isWaiting(for: descriptor))
        poller.ready(Poller.token(descriptor, second), UInt32(POLLIN))
        #expect(await waits.next() == 2)
        poller.forget(descriptor)
    }
}
