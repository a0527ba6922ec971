// SPDX-License-Identifier: Apache-2.0

import MeshNode
import MeshProtocol

/// What is known of a drive before it begins: the first line of its file (`docs/fieldtest.md`, "The file").
public struct DriveHeader: Codable, Hashable, Sendable {
    /// The version of the form; this program writes 1.
    public var roadmeshDrive = DriveHeader.form
    /// What the person calls it.
    public var name: String
    /// The part that the node played.
    public var role: NodeDescription.Role
    /// Who the node was.
    public var peer: Peer
    /// Its radio's name.
    public var radio: String
    /// Its service type.
    public var service: String
    /// When it began, in seconds since 1970.
    public var began: Double
    /// The version of the program.
    public var version: String
    /// Where it comes from, where it is not from a road.
    public var origin: String?

    /// The version of the form that this program writes.
    public static let form = 1

    /// A drive of a node that begins now.
    public init(name: String, node: NodeDescription, began: Double, origin: String? = nil) {
        self.name = name
        role = node.role
        peer = node.peer
        radio = node.radio
        service = node.service.text
        self.began = began
        version = RoadMeshVersion.text
        self.origin = origin
    }
}
