// SPDX-License-Identifier: Apache-2.0

/// Bytes that differ a little from valid ones, as a fault or an attacker makes them.
enum Mutation {
    /// Replaces, inserts, doubles and removes some bytes and pieces.
    static func of(_ bytes: [UInt8], using chances: inout some RandomNumberGenerator) -> [UInt8] {
        var mutated = bytes
        for _ in 0..<Int.random(in: 1...8, using: &chances) {
            guard let place = mutated.indices.randomElement(using: &chances) else { break }
            switch Int.random(in: 0..<5, using: &chances) {
            case 0: mutated[place] = .random(in: 0...255, using: &chances)
            // Signs that end or begin something in XML and JSON.
            case 1: mutated.insert(Array("<>/\"'=:!-[]{},\\&\n".utf8).randomElement(using: &chances) ?? 0, at: place)
            case 2: mutated.removeSubrange(place..<min(place + .random(in: 1...40, using: &chances), mutated.count))
            case 3:
                let piece = mutated[place..<min(place + .random(in: 1...200, using: &chances), mutated.count)]
                mutated.insert(contentsOf: piece, at: place)
            default: mutated.removeSubrange(place...)
            }
        }
        return mutated
    }
}
