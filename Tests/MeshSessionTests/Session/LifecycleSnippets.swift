// SPDX-License-Identifier: Apache-2.0

import BLETransport
import Bearers
import MeshProtocol
import MeshSession
import TestSupport
import Testing

/// The code snippets of the document on a session's lifecycle, word for word, in an application.
private actor Application {
    let peripheral: Peripheral
    var session: MeshCoreSession
    var shown: [String] = []
    private var printed: [String] = []

    init(peripheral: Peripheral, session: MeshCoreSession) {
        self.peripheral = peripheral
        self.session = session
    }

    private func print(_ text: String) { printed.append(text) }
    private func showDisconnectedUI() { shown.append("disconnected") }
    private func showConnectingIndicator() { shown.append("connecting") }
    private func showConnectedUI() { shown.append("connected") }
    private func showReconnecting(attempt: Int) { shown.append("reconnecting \(attempt)") }
    private func handleConnectionError(_ error: MeshTransportError) { shown.append("failed: \(error)") }
    private func showReconnectionFailed() { shown.append("reconnection failed") }

    /// "Connection States"
    func watchState() async {
        for await state in session.connectionState {
            switch state {
            case .disconnected:
                showDisconnectedUI()
            case .connecting:
                showConnectingIndicator()
            case .connected:
                showConnectedUI()
            case .reconnecting(let attempt):
                showReconnecting(attempt: attempt)
            case .failed(let error):
                handleConnectionError(error)
            }
        }
    }

    /// "Starting a Session". Returns its output.
    func start() async throws -> [String] {
        do {
            try await session.start()
            // Session is now ready
        } catch MeshTransportError.connectionFailed(let reason) {
            print("Transport error: \(reason)")
        } catch MeshCoreError.timeout {
            print("Device didn't respond to appStart")
        }
        return printed
    }

    /// "Handling Disconnections"
    func watchEvents() -> Task<Void, Never> {
        Task {
            for await event in await session.events() {
                if case .connectionStateChanged(.disconnected) = event {
                    // Handle unexpected disconnection
                    await attemptReconnection()
                }
            }
        }
    }

    /// "Implementing Reconnection"
    func attemptReconnection() async {
        var attempts = 0
        let maxAttempts = 5

        while attempts < maxAttempts {
            attempts += 1

            do {
                // Create a new session
                let newTransport = BLETransport(peripheral: peripheral)
                let newSession = MeshCoreSession(transport: newTransport)
                try await newSession.start()

                // Success - update your app state
                self.session = newSession
                return
            } catch {
                let delay = Double(attempts) * 2.0  // Exponential backoff
                try? await Task.sleep(for: .seconds(delay))
            }
        }

        // Max attempts reached
        showReconnectionFailed()
    }
}

@Suite("The snippets of the document on a session's lifecycle")
struct LifecycleSnippets {
    private func application(on road: Road) -> Application {
        Application(
            peripheral: road.peripheral,
            session: MeshCoreSession(transport: BLETransport(peripheral: road.peripheral)))
    }

    @Test("a session that starts and stops shows connecting, connected and disconnected")
    func states() async throws {
        let road = try await Road()
        let application = application(on: road)
        let states = EventQueue(await application.session.connectionState)
        #expect(try await states.first { $0 } == .disconnected)
        let watching = Task { await application.watchState() }
        async let printed = application.start()
        let host = try await road.hostSession()
        try await host.start()
        #expect(try await printed.isEmpty)
        #expect(await application.session.isRunning)
        await application.session.stop()
        await watching.value
        await states.end()
        #expect(await application.shown.suffix(2) == ["connected", "disconnected"])
        #expect(await application.session.isRunning == false)
        await host.stop()
        await road.close()
    }

    @Test("a transport that cannot connect throws the reason")
    func transportError() async throws {
        let road = try await Road()
        let transport = BLETransport(peripheral: road.peripheral)
        await transport.close()
        let application = Application(
            peripheral: road.peripheral, session: MeshCoreSession(transport: transport))
        #expect(try await application.start() == ["Transport error: this transport was used; make a new one"])
        await road.close()
    }

    @Test("a host that does not answer throws a timeout")
    func timeout() async throws {
        let road = try await Road()
        let application = application(on: road)
        async let printed = application.start()
        let mute = try await road.accepted()
        #expect(try await printed == ["Device didn't respond to appStart"])
        await mute.close()
        await road.close()
    }

    @Test("a lost session is followed by another one, made from the same peripheral")
    func reconnection() async throws {
        let road = try await Road()
        let application = application(on: road)
        async let printed = application.start()
        let host = try await road.hostSession()
        try await host.start()
        #expect(try await printed.isEmpty)
        let first = await application.session
        let watching = await application.watchEvents()
        let states = EventQueue(first.connectionState)
        try road.air.cut()
        await states.end()
        road.air.heal()
        let next = try await road.hostSession()
        try await next.start()
        await watching.value
        let second = await application.session
        #expect(second !== first)
        #expect(await second.isRunning)
        #expect(await first.isRunning == false)
        #expect(await application.shown.isEmpty)
        for session in [second, host, next] { await session.stop() }
        await road.close()
    }
}
