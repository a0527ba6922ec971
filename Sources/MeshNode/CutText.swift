// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

extension UntrustedText {
    /// Text that may come from anybody, fit to be shown and cut. A character may have any number of bytes.
    package static func shown(_ text: String, atMost characters: Int) -> String {
        var text = String(shown(String(text.prefix(characters))))
        while text.utf8.count > 4 * characters { text.removeLast() }
        return text
    }
}
