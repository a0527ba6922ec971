// SPDX-License-Identifier: Apache-2.0

import BLETransport
import Bearers
import DemocracyDJ
import MeshNode
import MeshProtocol
import NodeCore
import Testing

@Suite("The meaning of radio errors for people")
struct RadioErrorTests {
    @Test(
        "each failure of the radio has its own notice, at the start and later",
        arguments: [
            (.noAdapter, .noAdapter, .unavailable, "plug in"),
            (.radioOff, .radioOff, .unavailable, "bluetoothctl power on"),
            (.blocked, .blocked(bySwitch: false), .unavailable, "rfkill unblock bluetooth"),
            (.blockedBySwitch, .blocked(bySwitch: true), .unavailable, "flip it"),
            (.adapterSilent, .adapterSilent, .unavailable, "does not answer"),
            (.adapterDead, .adapterDead, .unavailable, "unplug it"),
            (.serviceNotRunning, .serviceNotRunning, .unavailable, "systemctl start bluetooth"),
            (.notPermitted, .notPermitted, .notPermitted, "usermod -aG bluetooth"),
            (.unsupported, .unsupported(cause: "x y z"), .unavailable, "--adapter"),
            (.advertisingRefused, .advertisingRefused(kernel: "x y z"), .unavailable, "update Linux"),
            (.airUnusable, .airUnusable(cause: "x y z"), .unavailable, "--air"),
            (.airForbidden, .airUnusable(cause: "x y z"), .notPermitted, "--air"),
            (.failed, .radioFailed(cause: "x y z"), .unavailable, "does not work"),
            (.closed, .radioFailed(cause: "x y z"), .unavailable, "does not work"),
        ] as [(BearerError.Code, NetworkError, SetupProblem.ExitCode, String)])
    func failures(code: BearerError.Code, error: NetworkError, exitCode: SetupProblem.ExitCode, words: String) {
        let radioError = BearerError(code, "x y z")
        #expect(NetworkError(radioError) == error)
        #expect(NetworkError(radio: radioError) == error)
        #expect(error.isOutage)
        let problem = SetupProblem(radioError)
        #expect(problem.exitCode == exitCode)
        #expect(problem.sentence.contains(words))
        #expect(problem.sentence.contains("x y z"))
    }

    @Test("a failure without a text is shown by its code, and an unknown error by its own text")
    func words() {
        struct Odd: Error, CustomStringConvertible { var description: String { "odd" } }
        #expect(NetworkError(radio: BearerError(.failed)) == .radioFailed(cause: "failed"))
        #expect(NetworkError(radio: Odd()) == .radioFailed(cause: "odd"))
    }

    /// Errors of a complete radio.
    static let codesOfRadios: [BearerError.Code] = [
        .noAdapter, .radioOff, .blocked, .blockedBySwitch, .adapterSilent, .adapterDead, .serviceNotRunning,
        .notPermitted, .unsupported, .advertisingRefused, .airUnusable, .failed,
    ]

    @Test("each kind of failure has a different meaning for people", arguments: codesOfRadios)
    func kinds(code: BearerError.Code) {
        let same = Self.codesOfRadios.filter {
            NetworkError(BearerError($0, "x")) == NetworkError(BearerError(code, "x"))
        }
        #expect(same == [code])
    }

    static let car = Peer(id: "c0", name: "Dad's Car")

    @Test(
        "each refusal has its own notice",
        arguments: [
            (.full, .hostFull), (.version, .versionMismatch), (.banned, .kicked), (.challenge, .proofRequired),
            (.ended, .hostEnded(host: car)), (.unspecified, .refused), (.bond, .bondRequired),
            (.wrongProof, .wrongPIN), (.tooManyGuesses, .tooManyGuesses), (.invitation, .invitationOver),
        ] as [(RefusalReason, NetworkError)])
    func refusals(reason: RefusalReason, error: NetworkError) {
        #expect(NetworkError(reason, by: Self.car) == error)
    }

    @Test("the times in notices are those that a guest uses")
    func times() {
        #expect(NetworkError.connectionLost(host: Self.car).buttonComesAfter == .seconds(10))
        let notFound = Notice(.hostNotFound(host: Self.car)).message
        #expect(notFound.contains("for \(Int(ReconnectPolicy.limit / .seconds(1))) seconds"))
    }

    @Test("a host without a name yet is still a host")
    func nameless() {
        #expect(Notice(NetworkError(.ended)).message == "The host ended the session.")
    }
}
