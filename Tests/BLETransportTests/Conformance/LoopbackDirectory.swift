// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers

@testable import Bearers
@testable import LANBearer

/// A network of one machine without avahi-daemon: all radios find what one registers, at one loopback address. With two
/// addresses, a busy machine would accept both connections and close one again.
final class LoopbackNetwork: Sendable {
    private struct State {
        var records: [Int: ServiceRecord] = [:]
        var browsers: [Int: AsyncStream<DirectoryEvent>.Continuation] = [:]
        var last = 0
    }

    private let state = NIOLockedValueBox(State())

    func directory() -> Directory {
        Directory(
            self,
            state.withLockedValue {
                $0.last += 1
                return $0.last
            })
    }

    /// Sends an event as the directory to all radios that browse.
    func tell(_ event: DirectoryEvent) {
        for browser in state.withLockedValue({ $0.browsers.values }) { browser.yield(event) }
    }

    private func service(_ record: ServiceRecord) -> FoundService {
        let place = ServicePlace(name: record.name, interface: 1, isIPv6: false)
        return FoundService(place: place, address: "127.0.0.1", port: record.port, txt: record.txt)
    }

    private func publish(_ record: ServiceRecord?, by number: Int) {
        let old = state.withLockedValue { state in
            defer { state.records[number] = record }
            return state.records[number]
        }
        if let record {
            tell(.found(service(record)))
        } else if let old {
            tell(.gone(service(old).place))
        }
    }

    private func browse(_ sink: AsyncStream<DirectoryEvent>.Continuation, by number: Int) {
        let records = state.withLockedValue { state in
            state.browsers[number] = sink
            return state.records.values
        }
        for record in records { sink.yield(.found(service(record))) }
    }

    private func leave(_ number: Int) {
        publish(nil, by: number)
        state.withLockedValue { $0.browsers[number] = nil }
    }

    /// One radio's view of the network.
    final class Directory: ServiceDirectory {
        let events: AsyncStream<DirectoryEvent>
        private let sink: AsyncStream<DirectoryEvent>.Continuation
        private let network: LoopbackNetwork
        private let number: Int

        fileprivate init(_ network: LoopbackNetwork, _ number: Int) {
            (self.network, self.number) = (network, number)
            (events, sink) = AsyncStream.makeStream()
        }

        func open() async throws(BearerError) {}
        func publish(_ record: ServiceRecord?) async { network.publish(record, by: number) }
        func browse() async { network.browse(sink, by: number) }
        func close() async {
            network.leave(number)
            sink.finish()
        }
    }
}
