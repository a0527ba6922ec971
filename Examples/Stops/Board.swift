// SPDX-License-Identifier: Apache-2.0

import Foundation
import MeshProtocol
import MeshSession

/// The next stops of a convoy. It decides which proposals count, and knows nothing of links.
struct Board: Codable, Equatable {
    struct Stop: Codable, Equatable {
        var name: String
        var proposedBy: String
    }

    /// A board has to fit one message of 65,535 bytes.
    static let stopsAtMost = 30
    static let nameBytes = 200

    private(set) var stops: [Stop] = []

    /// Adds a proposal. One that is on the board already changes nothing, so a proposal may arrive twice.
    mutating func add(_ name: String, by person: String) {
        guard !name.isEmpty, name.utf8.count <= Self.nameBytes, stops.count < Self.stopsAtMost else { return }
        guard !stops.contains(where: { $0.name == name }) else { return }
        stops.append(Stop(name: name, proposedBy: person))
    }

    /// The board in one line.
    var text: String { stops.map { "\($0.name) (\($0.proposedBy))" }.joined(separator: ", ") }
}

/// The data that a node keeps across restarts, in a file that only its user can read.
struct Memory: Codable {
    private var key = Identity.make().stored
    /// Messages that wait for an acknowledgement, and how far each peer's messages were received.
    var conversations: [ConversationKey: MeshCore.Remembered] = [:]
    var board = Board()

    /// Reads the data in a folder. At the first start it creates the folder and a new identity.
    init(folder: String) throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        if let data = FileManager.default.contents(atPath: folder + "/memory.json") {
            self = try JSONDecoder().decode(Memory.self, from: data)
        } else {
            try write(to: folder)
        }
    }

    /// Replaces the file in one step, so that a power cut leaves the old data or the new.
    func write(to folder: String) throws {
        try JSONEncoder().encode(self).write(to: URL(fileURLWithPath: folder + "/memory.json"), options: .atomic)
    }

    /// The identity of this node. Other nodes recognise it by its key.
    var identity: Identity {
        get throws {
            guard let identity = Identity(stored: key) else { throw CocoaError(.fileReadCorruptFile) }
            return identity
        }
    }
}
