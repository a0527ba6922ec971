// SPDX-License-Identifier: Apache-2.0

/// What a radio has mended by itself, and a person should know.
public enum RadioMending: Hashable, Sendable {
    /// Another adapter was taken, since the one in use is gone or dead: their names.
    case otherAdapter(old: String, new: String)
    /// The adapter had stopped to advertise without a word.
    case advertising
}
