// SPDX-License-Identifier: Apache-2.0

// A row as a line of JSON: `at`, `kind`, and the fields of that kind.
extension DriveRow: Codable {
    private enum Key: String, CodingKey {
        case at, kind, peer, text, code, rows, reason
    }

    private enum Kind: String, Codable {
        case link, carrier, contact, radio, wish, intent, position, load, mark, notice, tick, missing, end
    }

    /// Reads a row. Throws if it is invalid, or of a kind that this version does not know.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        at = try container.decode(Double.self, forKey: .at)
        what =
            switch try container.decode(Kind.self, forKey: .kind) {
            case .link: .link(try container.decode(String.self, forKey: .peer), try LinkSample(from: decoder))
            case .carrier:
                .carrier(try container.decode(String.self, forKey: .peer), try CarrierSample(from: decoder))
            case .contact: .contact(try ContactRow(from: decoder))
            case .radio: .radio(try RadioSample(from: decoder))
            case .wish: .wish(try WishRow(from: decoder))
            case .intent: .intent(try IntentRow(from: decoder))
            case .position: .position(try PositionRow(from: decoder))
            case .load: .load(try ProcessLoad(from: decoder))
            case .mark: .mark(try container.decode(String.self, forKey: .text))
            case .notice: .notice(try container.decode(String.self, forKey: .code))
            case .tick: .tick
            case .missing: .missing(try container.decode(Int.self, forKey: .rows))
            case .end: .end(try container.decode(String.self, forKey: .reason))
            }
    }

    /// Writes the row.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(at, forKey: .at)
        try container.encode(kind, forKey: .kind)
        switch what {
        case .link(let peer, let sample):
            try container.encode(peer, forKey: .peer)
            try sample.encode(to: encoder)
        case .carrier(let peer, let sample):
            try container.encode(peer, forKey: .peer)
            try sample.encode(to: encoder)
        case .contact(let row): try row.encode(to: encoder)
        case .radio(let sample): try sample.encode(to: encoder)
        case .wish(let row): try row.encode(to: encoder)
        case .intent(let row): try row.encode(to: encoder)
        case .position(let row): try row.encode(to: encoder)
        case .load(let load): try load.encode(to: encoder)
        case .mark(let text): try container.encode(text, forKey: .text)
        case .notice(let code): try container.encode(code, forKey: .code)
        case .tick: break
        case .missing(let rows): try container.encode(rows, forKey: .rows)
        case .end(let reason): try container.encode(reason, forKey: .reason)
        }
    }

    private var kind: Kind {
        switch what {
        case .link: .link
        case .carrier: .carrier
        case .contact: .contact
        case .radio: .radio
        case .wish: .wish
        case .intent: .intent
        case .position: .position
        case .load: .load
        case .mark: .mark
        case .notice: .notice
        case .tick: .tick
        case .missing: .missing
        case .end: .end
        }
    }
}
