// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import TestSupport
import Testing

/// The rows of the document on an error-handling strategy, and of "Network Lost" in the one on disconnects. Each test
/// checks one.
@Suite("The strategy for errors")
struct ErrorStrategyTests {
    static let web: [NetworkError] = Array(NetworkError.every.prefix(10))
    static let lost = NetworkError.connectionLost(host: Example.host)

    // MARK: Core philosophy

    @Test("User-Centered: every error that can be solved says how", arguments: NetworkError.every)
    func userCentered(error: NetworkError) {
        #expect(!error.isCritical || ErrorRecoveryHelper.suggestion(for: error) != nil)
    }

    @Test("Context-Aware: no two of the radio's or the host's errors give the same advice")
    func contextAware() {
        let advice = NetworkError.every.dropFirst(10).map { ErrorRecoveryHelper.suggestion(for: $0) }
        #expect(Set(advice).count == advice.count)
    }

    @Test("Recovery-Focused: a permanent error ends with a tap, automatically, or by its suggestion")
    func recoveryFocused() {
        let withoutTap = NetworkError.every.filter { $0.isCritical && $0.buttonComesAfter == nil }.map(\.code)
        #expect(
            withoutTap == [
                "hostStopped", "otherHost", "storageFull", "storageReadOnly", "storageBusy",
                "storageVanished", "storageFailed",
            ])
    }

    @Test("Minimally Intrusive: an error is short, and a screen has few of them")
    func minimallyIntrusive() {
        #expect(NetworkError.every.allSatisfy { ErrorToast($0, now: .zero).message.count <= 80 })
        #expect(DJLimits.notices < 10)
    }

    @Test(
        "Persistence-Appropriate: critical errors persist until resolved, minor ones go", arguments: NetworkError.every)
    func persistence(error: NetworkError) {
        var toast = ErrorToast(error, now: .seconds(3))
        #expect(toast.tick(now: .seconds(7.9)) == nil)
        #expect(toast.tick(now: .seconds(8)) == (error.isCritical ? nil : .over))
    }

    // MARK: Network error types

    @Test(
        "the ten cases of the web, and the notice of each",
        arguments: [
            (.invalidURL, "invalidURL", false, "OK"),
            (.requestFailed(NetworkError.Cause()), "requestFailed", false, "Try Again"),
            (.invalidResponse, "invalidResponse", false, "OK"),
            (.httpError(statusCode: 500), "httpError", false, "Try Again"),
            (.decodingError(NetworkError.Cause()), "decodingError", false, "OK"),
            (.noData, "noData", false, "Try Again"),
            (.offline, "offline", true, "Try Again"),
            (.emptyData, "emptyData", false, "OK"),
            (.serverMaintenance, "serverMaintenance", true, "Try Again"),
            (.rateLimited, "rateLimited", true, "Try Again"),
        ] as [(NetworkError, String, Bool, String)])
    func cases(error: NetworkError, code: String, isCritical: Bool, button: String) {
        #expect(error.code == code)
        #expect(error.isCritical == isCritical)
        #expect(ErrorRecoveryHelper.buttonLabel(for: error) == button)
        #expect(error.errorDescription != nil)
    }

    // MARK: Error toast

    @Test("the toast shows a message with its suggestion and a button that fits")
    func toast() {
        let toast = ErrorToast(.hostFull, now: .zero)
        #expect(toast.message == "The host has no room for another guest.")
        #expect(toast.suggestion == "You join automatically when a guest leaves.")
        #expect(toast.buttonText == "Retry")
        #expect(toast.isCritical && toast.dismissAfter == nil && toast.deadline == nil)
    }

    @Test("a non-critical toast dismisses itself after its time-out")
    func dismissal() {
        var toast = ErrorToast(.notConnected, now: .seconds(1))
        #expect(toast.dismissAfter == .seconds(5) && toast.deadline == .seconds(6))
        #expect(toast.tick(now: .seconds(6)) == .over)
    }

    @Test("in one line, the suggestion comes before the raw message")
    func headline() {
        #expect(ErrorToast(.requestFailed(NetworkError.Cause()), now: .zero).headline.contains("the line") == false)
        #expect(ErrorToast(message: "Saved.").headline == "Saved.")
    }

    // MARK: Critical and non-critical

    @Test("Critical: network connectivity, server maintenance, rate limiting")
    func critical() {
        let outages = NetworkError.every.filter(\.isOutage)
        let all = outages + [.offline, .serverMaintenance, .rateLimited, Self.lost]
        #expect(all.allSatisfy { $0.isCritical })
    }

    @Test("Non-critical: information and minor issues")
    func minor() {
        let all: [NetworkError] = [.hostLeft(host: Example.host), .notConnected, .tooManyPendingVotes, .emptyData]
        #expect(all.allSatisfy { !$0.isCritical })
    }

    // MARK: Network status monitoring

    @Test("the monitor detects that the device goes offline, refuses with the cause, and reports when it is back")
    func monitoring() {
        var monitor = NetworkMonitor()
        #expect(monitor.handle(.radioFailed(.radioOff), now: .zero) == [.networkUnavailable(.radioOff)])
        #expect(monitor.refusal == .radioOff)
        #expect(monitor.handle(.radioRecovered, now: .seconds(1)) == [.networkAvailable])
        #expect(monitor.refusal == nil)
    }

    // MARK: Network lost

    @Test("Network Lost 1 to 3: several rapid disconnects are one networkUnavailable, and no lost peers")
    func rapidDisconnects() {
        var monitor = NetworkMonitor()
        let peers = ["a", "b", "c", "d"]
        for peer in peers { _ = monitor.handle(.linked(peer), now: .zero) }
        let actions = peers.flatMap { monitor.handle(.linkLost($0), now: .seconds(60)) }
        #expect(actions == [.networkUnavailable(.networkUnavailable), .tryAgain])
    }

    @Test("Network Lost 4: the banner says that the connection is lost, and that it tries to reconnect")
    func banner() {
        let toast = ErrorToast(Self.lost, now: .zero)
        #expect(toast.message == "Connection to Dad's Car lost. Trying to reconnect.")
        #expect(toast.suggestion?.contains("last known queue") == true)
    }

    @Test("Network Lost: the banner disappears automatically when the connection is restored")
    func restored() {
        var board = NoticeBoard()
        _ = board.handle(.tell(Notice(Self.lost)), now: .zero)
        #expect(board.handle(.clear(Self.lost.code), now: .seconds(3)) == [.clear(Self.lost.code)])
        #expect(board.current.isEmpty)
    }

    @Test("Network Lost: a Retry button after ten seconds, with the advice to check that Bluetooth is on")
    func retry() {
        var toast = ErrorToast(Self.lost, now: .seconds(1))
        #expect(toast.buttonText == nil)
        #expect(toast.offersRetryAfter == .seconds(10) && toast.deadline == .seconds(11))
        #expect(toast.tick(now: .seconds(10.9)) == nil)
        #expect(toast.tick(now: .seconds(11)) == .changed)
        #expect(toast.buttonText == "Retry")
        #expect(toast.suggestion?.contains("Make sure Bluetooth is on") == true)
        #expect(toast.offersRetryAfter == nil && toast.deadline == nil)
    }
}
