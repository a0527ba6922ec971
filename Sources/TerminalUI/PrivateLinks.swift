// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// The place of a node's secrets for its person: the links with their tokens, the PIN and the invitations.
package enum SecretsPlace: Hashable, Sendable {
    /// The links are printed on standard output.
    case output
    /// The links are written to a file, because standard output goes to a log.
    case file(String)
}

/// The secrets of a node for its person.
package struct PrivateLinks: Hashable, Sendable {
    /// The address of the page, with the driver's token if it needs one.
    package var controls: String?
    /// The link that admits browsers of passengers.
    package var passengers: String?
    /// The PIN.
    package var pin: String?
    /// The open invitations.
    package var invitations: [OpenInvitation] = []

    /// The links of a node.
    package init(controls: String?, passengers: String?, pin: String?) {
        (self.controls, self.passengers, self.pin) = (controls, passengers, pin)
    }

    /// Whether a link or the PIN is secret.
    var hasSecret: Bool { controls.map(Self.hasToken) == true || passengers != nil || pin != nil }

    private static func hasToken(_ url: String) -> Bool { url.contains("?") }

    /// The links, one per line.
    func links(in language: Language) -> [String] {
        let own: LocalizedText? = controls.map {
            Self.hasToken($0) ? "Your controls (private): \($0)" : "Your controls (this device only): \($0)"
        }
        let others: LocalizedText? = passengers.map { "For passengers: \($0)" }
        return [own, others].compactMap { $0.map(language.text) }
    }

    /// The text of the file with all secrets, in the person's language. Nil without secrets.
    package var text: String? {
        let language = Language.ofPerson
        let code: LocalizedText? = pin.map { "PIN: \($0)" }
        let given = invitations.map { invitation in
            let end = Sentences.date(invitation.until)
            let text: LocalizedText =
                invitation.once
                ? "Invitation for one guest, until \(end): \(invitation.picture)"
                : "Invitation for everybody, until \(end): \(invitation.picture)"
            return language.text(text)
        }
        let lines = links(in: language) + [code].compactMap { $0.map(language.text) } + given
        return lines.isEmpty ? nil : lines.joined(separator: "\n") + "\n"
    }
}

extension OpenInvitation {
    /// The invitation as an argument in a shell. A link is quoted, because zsh takes its question mark for a pattern.
    var argument: String { picture.contains("?") ? "'\(picture)'" : picture }
}
