// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import NodeCore

/// A value of JSON.
enum JSON: Decodable, Sendable {
    case null
    case boolean(Bool)
    case number(Double)
    case string(String)
    case list([JSON])
    case object([String: JSON])

    /// The value as a program would read it.
    init(_ value: some Encodable) throws { try self.init(parsing: JSONLine.text(value)) }

    /// A line of a document.
    init(parsing text: String) throws { self = try JSONDecoder().decode(JSON.self, from: Data(text.utf8)) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSON].self) {
            self = .list(value)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }

    /// The fields of an object.
    var fields: [String: JSON] { if case .object(let fields) = self { fields } else { [:] } }

    /// The name of an event.
    var event: String? { if case .string(let name)? = fields["event"] { name } else { nil } }

    /// Its kind, in the words of the documents.
    var kind: String {
        switch self {
        case .null: "null"
        case .boolean: "boolean"
        case .number: "number"
        case .string: "string"
        case .list: "a list"
        case .object: "an object"
        }
    }
}
