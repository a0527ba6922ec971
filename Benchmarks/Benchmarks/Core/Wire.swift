// SPDX-License-Identifier: Apache-2.0

import Benchmark
import DemocracyDJ
import MeshProtocol

/// Records, handshakes, and a message from one node to another.
func wireBenchmarks() {
    for size in [30, 300, 1_200] { recordBenchmarks(size) }
    Benchmark("first handshake") { benchmark in
        for _ in benchmark.scaledIterations { blackHole(handshake(.xx)) }
    }
    Benchmark("known handshake") { benchmark in
        for _ in benchmark.scaledIterations { blackHole(handshake(.ik)) }
    }
    Benchmark("message and acknowledgement", configuration: .init(scalingFactor: .kilo)) { benchmark in
        var pair = LinkedPair()
        benchmark.startMeasurement()
        for _ in benchmark.scaledIterations { pair.say([UInt8](repeating: 7, count: 10)) }
        benchmark.stopMeasurement()
        precondition(pair.unacknowledged == 0, "everything has arrived")
    }
}

private func recordBenchmarks(_ size: Int) {
    let plain = [UInt8](repeating: 1, count: size)
    Benchmark("seal \(size) bytes", configuration: .init(scalingFactor: .kilo)) { benchmark in
        var cipher = handshake(.xx).0
        benchmark.startMeasurement()
        for _ in benchmark.scaledIterations { blackHole(cipher.seal(plain)) }
    }
    Benchmark("open \(size) bytes", configuration: .init(scalingFactor: .kilo)) { benchmark in
        var (sender, receiver) = handshake(.xx)
        let sealed = benchmark.scaledIterations.map { _ in sender.seal(plain) }
        benchmark.startMeasurement()
        for record in sealed {
            guard let opened = receiver.open(record[...]) else { fatalError("the record does not open") }
            blackHole(opened)
        }
    }
}

private let alice = [UInt8](repeating: 0x11, count: 32)
private let bob = [UInt8](repeating: 0x22, count: 32)

/// Runs a handshake. Returns the initiator's sending cipher and the responder's receiving cipher.
private func handshake(_ pattern: NoiseHandshake.Pattern) -> (NoiseCipher, NoiseCipher) {
    let known = pattern == .ik ? Identity(stored: bob)?.publicKey : nil
    guard
        var one = NoiseHandshake(
            pattern, as: .initiator, prologue: [1], staticKey: alice,
            ephemeralKey: [UInt8](repeating: 3, count: 32), remoteStatic: known),
        var other = NoiseHandshake(
            pattern, as: .responder, prologue: [1], staticKey: bob, ephemeralKey: [UInt8](repeating: 4, count: 32))
    else { fatalError("the key is invalid") }
    var isFirst = true
    while !one.isComplete || !other.isComplete {
        let message = isFirst ? one.write(payload: []) : other.write(payload: [])
        guard let message, (isFirst ? other.read(message[...]) : one.read(message[...])) != nil else {
            fatalError("the handshake fails")
        }
        isFirst.toggle()
    }
    return (one.split().initiatorToResponder, other.split().initiatorToResponder)
}
