// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NodeCore

/// The data of a drive that are known before it starts: the first line of its file (`docs/fieldtest.md`, "The file").
public struct DriveHeader: Codable, Hashable, Sendable {
    /// The version of the file's form; this program writes 1.
    public var roadmeshDrive = DriveHeader.form
    /// The name that the user gave it.
    public var name: String
    /// The node's role.
    public var role: NodeDescription.Role
    /// The node.
    public var peer: Peer
    /// The name of the node's radio.
    public var radio: String
    /// The service type of the recorded node.
    public var service: String
    /// When the drive started, in seconds since 1970.
    public var began: Double
    /// The version of the program.
    public var version: String
    /// The origin of the drive, if it was not recorded on a road.
    public var origin: String?

    /// The version of the form that this program writes.
    public static let form = 1

    /// Makes the header of a node's drive that starts now.
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
