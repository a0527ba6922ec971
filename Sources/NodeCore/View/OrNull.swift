// SPDX-License-Identifier: Apache-2.0

/// A field that is encoded as null where it has no value, instead of being left out.
@propertyWrapper
package struct OrNull<Value: Encodable & Hashable & Sendable>: Encodable, Hashable, Sendable {
    package var wrappedValue: Value?

    package init(wrappedValue: Value?) {
        self.wrappedValue = wrappedValue
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}
