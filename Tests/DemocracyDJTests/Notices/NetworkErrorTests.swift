// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import MeshProtocol
import TestSupport
import Testing

@Suite("Errors in sentences for people")
struct NetworkErrorTests {
    private func sentences(_ text: String) -> [String] {
        text.split(separator: ". ").map { $0.hasSuffix(".") ? String($0.dropLast()) : String($0) }
    }

    @Test("every error says what happened and what to do, in sentences", arguments: NetworkError.every)
    func told(error: NetworkError) throws {
        let texts = [error.errorDescription, ErrorRecoveryHelper.suggestion(for: error)].compactMap { $0 }
        for text in texts {
            #expect(text.first?.isLowercase == false && text.hasSuffix("."), "\(text)")
            #expect(text.count <= 120, "\(text) is too long for a glance")
            #expect(!text.contains("..") && !text.contains("Optional") && !text.contains("  "), "\(text)")
        }
        #expect(texts.count == 2)
        #expect(!ErrorRecoveryHelper.buttonLabel(for: error).isEmpty)
        #expect(ErrorRecoveryHelper.buttonLabel(for: error).count <= 12)
    }

    @Test("no error repeats a sentence", arguments: NetworkError.every)
    func once(error: NetworkError) throws {
        let message = Set(sentences(try #require(error.errorDescription)))
        let suggestion = sentences(ErrorRecoveryHelper.suggestion(for: error) ?? "")
        #expect(message.isDisjoint(with: suggestion))
        let later = Notice(error).followUp
        #expect(later?.message != error.errorDescription)
    }

    @Test("every error has its own code, which is its name")
    func codes() throws {
        let codes = NetworkError.every.map(\.code)
        // Two of the list are both a block: by a program, and by a switch.
        #expect(Set(codes).count == codes.count - 1)
        for error in NetworkError.every { #expect("\(error)".hasPrefix(error.code)) }
    }

    @Test(
        "a temporary notice lasts five seconds, and a critical one until it is solved", arguments: NetworkError.every)
    func stays(error: NetworkError) {
        let notice = Notice(error)
        #expect(notice.critical == error.isCritical)
        #expect(notice.dismissAfter == (error.isCritical ? nil : 5))
    }

    @Test("a notice has a button only if a tap can help, at once or, for a lost connection, later")
    func buttons() {
        let withButton = NetworkError.every.filter { Notice($0).button != nil }.map(\.code)
        #expect(
            Set(withButton) == [
                "requestFailed", "httpError", "noData", "offline", "serverMaintenance", "rateLimited", "radioOff",
                "noAdapter", "blocked", "adapterSilent", "adapterDead", "serviceNotRunning", "notPermitted",
                "unsupported", "advertisingRefused", "airUnusable",
                "radioFailed",
                "networkUnavailable", "hostNotFound", "hostEnded", "hostFull", "kicked", "refused", "versionMismatch",
                "hostKeyChanged",
                "sameIdentity",
                "proofRequired", "wrongPIN", "tooManyGuesses", "unprovenHost", "pinAtRisk", "invitationOver",
                "bondRequired",
                "storageDamaged",
            ])
        let later = NetworkError.every.filter { Notice($0).followUp != nil }
        #expect(later == [.connectionLost(host: Example.host)])
    }

    @Test("the radio's outages share a code, since they end together, and the cause distinguishes them")
    func outages() {
        let outages = NetworkError.every.filter(\.isOutage)
        #expect(outages.count == 13)
        for error in outages {
            #expect(Notice(error).code == "radioUnavailable")
            #expect(Notice(error).cause == error.code)
        }
        for error in NetworkError.every where !error.isOutage {
            #expect(Notice(error).code == error.code)
            #expect(Notice(error).cause == nil)
        }
    }

    @Test("two errors are equal if their texts are")
    func equal() {
        #expect(NetworkError.every == NetworkError.every)
        #expect(Set(NetworkError.every).count == NetworkError.every.count)
        #expect(NetworkError.httpError(statusCode: 404) != .httpError(statusCode: 500))
        #expect(NetworkError.requestFailed(NetworkError.offline) == .requestFailed(NetworkError.noData))
        #expect(NetworkError.hostEnded(host: Example.bob) != .hostEnded(host: Example.otherBob))
        #expect(NetworkError.storageFailed(cause: "a") != .storageFailed(cause: "b"))
    }

    @Test("an error that is shown by code that does not know it has the same text")
    func localized() {
        let error: any Error = NetworkError.radioOff
        let localized = error as? any LocalizedError
        #expect(localized?.errorDescription == "Bluetooth is switched off.")
        #expect(localized?.recoverySuggestion == "Switch it on: bluetoothctl power on.")
        #expect(
            NetworkError.requestFailed(error).errorDescription
                == "A cover could not be loaded from its server.")
    }

    @Test(
        "a server's answer is reported by its meaning",
        arguments: [
            (401, "rejects this device"), (404, "no longer exists"), (503, "reported an error"),
            (418, "refused the request"),
        ])
    func statusCodes(statusCode: Int, words: String) {
        let message = NetworkError.httpError(statusCode: statusCode).errorDescription
        #expect(message?.contains(words) == true)
        #expect(message?.contains(where: \.isNumber) == false, "a person in a car has no use for it")
    }

    @Test("a host without a name yet is still reported in a sentence")
    func nameless() {
        let host = Peer(id: "c0ffee", name: "")
        #expect(
            NetworkError.connectionLost(host: host).errorDescription
                == "Connection to the host lost. Trying to reconnect.")
        #expect(
            NetworkError.hostNotFound(host: host).errorDescription == "The host has been out of range for 30 seconds.")
    }
}
