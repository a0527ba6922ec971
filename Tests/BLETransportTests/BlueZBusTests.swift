// SPDX-License-Identifier: Apache-2.0

import CLinux
import FoundationEssentials
import Glibc
import MeshProtocol
import TestSupport
import Testing

@testable import BLETransport
@testable import Bearers

@Suite("Calls to bluetoothd", .serialized)
struct BlueZBusTests {
    @Test("a bus without bluetoothd reports that at once", .timeLimit(.minutes(5)))
    func withoutBluetoothd() async throws {
        let daemon = try MessageBus()
        setenv("DBUS_SYSTEM_BUS_ADDRESS", daemon.address, 1)
        defer { unsetenv("DBUS_SYSTEM_BUS_ADDRESS") }
        let poller = try Poller()
        defer { poller.close() }
        let bus = try BlueZBus(poller: poller)
        await bus.start()
        var said: [String] = []
        for await event in bus.events {
            said.append("\(event)")
            if case .serviceVanished = event { break }
        }
        #expect(said == ["ready", "serviceVanished"])
        await #expect(throws: BusFailure.self) { try await bus.listObjects() }
        daemon.stop()
        for await event in bus.events { if case .closed = event { break } }
        await bus.close()
    }

    @Test(
        "a call that bluetoothd never answers fails in time, although no message arrives and another call takes longer",
        .timeLimit(.minutes(5)))
    func unanswered() async throws {
        let daemon = try MessageBus()
        defer { daemon.stop() }
        setenv("DBUS_SYSTEM_BUS_ADDRESS", daemon.address, 1)
        defer { unsetenv("DBUS_SYSTEM_BUS_ADDRESS") }
        let poller = try Poller()
        defer { poller.close() }
        let bus = try BlueZBus(poller: poller)
        await bus.start()
        for await event in bus.events { if case .serviceVanished = event { break } }
        daemon.pause()
        let pairing = Task { try await bus.pair(with: "/org/bluez/hci0/dev_nobody") }
        while await bus.openCalls == 0 { await Task.yield() }
        // Tasks that were started run before the bus is asked again.
        for _ in 0..<10 { _ = await bus.openCalls }
        let began = ContinuousClock.now
        await #expect(throws: BusFailure.self) {
            try await bus.unregister("/nothing", on: "/org/bluez/hci0", within: .milliseconds(100))
        }
        #expect(ContinuousClock.now - began < .seconds(5))
        await bus.close()
        await #expect(throws: BusFailure.self) { try await pairing.value }
    }

    @Test(
        "a host whose adapter goes off while it registers its advertisement registers again when the adapter is on",
        .timeLimit(.minutes(5)))
    func registrationGivenUp() async throws {
        let daemon = try MessageBus()
        defer { daemon.stop() }
        setenv("DBUS_SYSTEM_BUS_ADDRESS", daemon.address, 1)
        defer { unsetenv("DBUS_SYSTEM_BUS_ADDRESS") }
        let poller = try Poller()
        defer { poller.close() }
        let bus = try BlueZBus(poller: poller)
        await bus.start()
        for await event in bus.events { if case .serviceVanished = event { break } }
        daemon.pause()
        let service = try ServiceType("democracy-dj").uuid
        let advertisement = Advertisement(service: service, peer: Peer(id: Identity.make().peerID, name: "Dad's Car"))
        let asking = Task { () -> BearerError? in
            do throws(BusFailure) {
                try await bus.register(advertisement, psm: 128, pace: .fast, as: "/a", on: "/org/bluez/hci0")
                return nil
            } catch {
                return error.radioError
            }
        }
        while await bus.openCalls == 0 { await Task.yield() }
        await bus.giveUp(bus.registrations)
        #expect(await asking.value?.code == .radioOff)
        #expect(await bus.openCalls == 0)
        await bus.close()
    }

    @Test("a missing message bus is reported, and nothing hangs", .timeLimit(.minutes(5)))
    func noBus() async throws {
        setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nowhere/bus", 1)
        defer { unsetenv("DBUS_SYSTEM_BUS_ADDRESS") }
        let poller = try Poller()
        defer { poller.close() }
        guard case .hasNoBus = await BusSnapshot.look(poller).service else { Issue.record("a bus at /nowhere"); return }
    }
}

/// A separate message bus: dbus-daemon on a socket in a temporary folder.
final class MessageBus {
    let address: String
    private let process: pid_t

    init() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/roadmesh-bus-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        address = "unix:path=\(folder)/bus"
        var descriptors: [Int32] = [0, 0]
        pipe(&descriptors)
        let arguments = [
            "dbus-daemon", "--session", "--nofork", "--address=\(address)", "--print-address=3",
        ]
        var argv = arguments.map { strdup($0) } + [nil]
        defer { for argument in argv { free(argument) } }
        var child = pid_t()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, descriptors[1], 3)
        clinux_spawn_close_from(&actions, 4)
        let failure = posix_spawnp(&child, "dbus-daemon", &actions, nil, &argv, environ)
        close(descriptors[1])
        process = child
        defer { close(descriptors[0]) }
        try #require(failure == 0, "dbus-daemon is missing: apt-get install dbus")
        // It prints its address once it listens.
        var byte: UInt8 = 0
        try #require(read(descriptors[0], &byte, 1) == 1)
    }

    /// Stops the bus: it keeps its connections, and answers nothing.
    func pause() { kill(process, SIGSTOP) }

    func stop() {
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
    }
}
