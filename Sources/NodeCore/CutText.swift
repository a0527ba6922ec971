// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

extension UntrustedText {
    /// Returns text from an untrusted source in a form that is safe to show, cut to `characters` and four times as many
    /// bytes. A character can have any number of bytes.
    package static func shown(_ text: String, atMost characters: Int) -> String {
        var text = String(shown(String(text.prefix(characters))))
        while text.utf8.count > 4 * characters { text.removeLast() }
        return text
    }
}
