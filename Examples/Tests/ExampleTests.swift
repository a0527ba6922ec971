// SPDX-License-Identifier: Apache-2.0

import Bearers
import Foundation
import TestSupport
import Testing

/// The programs of this folder, run over the virtual radio.
@Suite("The examples", .timeLimit(.minutes(2)))
struct ExampleTests {
    private let air: VirtualAir

    init() throws { air = try VirtualAir(directory: newFolder()) }

    private func radio(_ address: String) throws -> VirtualBearer { try VirtualBearer(air: air, address: address) }

    @Test("chat: all members see what one writes, and the chat ends when the host leaves")
    func chat() async throws {
        let (room, shown) = AsyncStream<String>.makeStream()
        let hosting = Task { try await hostChat(as: "Dad", on: radio("dad")) { shown.yield($0) } }
        let seenByHost = EventQueue(room)
        let (noLines, _) = AsyncStream<String>.makeStream()
        let (ben, benSees) = AsyncStream<String>.makeStream()
        let reading = Task { try await joinChat(as: "Ben", on: radio("ben"), lines: noLines) { benSees.yield($0) } }
        #expect(try await seenByHost.first { $0 } == "Ben has joined")
        let (anaLines, typed) = AsyncStream<String>.makeStream()
        let writing = Task { try await joinChat(as: "Ana", on: radio("ana"), lines: anaLines) { _ in } }
        typed.yield("hello")
        typed.yield("who is here?")
        let seenByBen = EventQueue(ben)
        #expect(try await seenByBen.first { $0 } == "Ana: hello")
        #expect(try await seenByBen.first { $0 } == "Ana: who is here?")
        hosting.cancel()
        try await hosting.value
        try await reading.value
        try await writing.value
    }

    @Test("file-transfer: a file of 50 parts arrives complete")
    func fileTransfer() async throws {
        let (sent, received) = (newFolder(), newFolder())
        for folder in [sent, received] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 7 ^ $0) })
        try bytes.write(to: URL(fileURLWithPath: sent + "/trip.bin"))
        let receiving = Task { try await receiveFile(into: received, as: "Laptop", on: radio("laptop")) }
        let sending = Task { try await sendFile(sent + "/trip.bin", as: "Camera", on: radio("camera")) }
        let path = try await receiving.value
        try await sending.value
        #expect(path == received + "/trip.bin")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
    }

    @Test("sensor-feed: a guest sees readings in their order, and ends with the sensor")
    func sensorFeed() async throws {
        let (readings, sensor) = AsyncStream<Double>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let publishing = Task { try await publish(readings, as: "Thermometer", on: radio("thermometer")) }
        let (shown, showing) = AsyncStream<Double>.makeStream()
        let watching = Task { try await watch(as: "Reader", on: radio("reader")) { showing.yield($0) } }
        // Readings from before the guest has joined are gone.
        let measuring = Task {
            var degrees = 20.0
            while !Task.isCancelled {
                sensor.yield(degrees)
                degrees += 0.5
                await Task.yield()
            }
        }
        let seen = EventQueue(shown)
        let first = try await seen.first { $0 }
        let second = try await seen.first { $0 }
        #expect(first >= 20 && second > first)
        measuring.cancel()
        sensor.finish()
        try await publishing.value
        try await watching.value
    }
}
