// SPDX-License-Identifier: Apache-2.0

import Logging
import MeshNode
import NodeStore
import ServiceLifecycle
import TerminalUI

/// Writes the secrets of a running node to the file `links` of its state folder, which only the owner can read. A log gets
/// the path of this file.
actor LinksFile: Service {
    static let name = "links"

    private let folder: StateFolder
    private let logger: Logger
    private let events: AsyncStream<NodeEvent>
    private var links: PrivateLinks

    /// The file of a node that does not run yet.
    init(_ parts: NodeOptions.Node, folder: StateFolder, events: AsyncStream<NodeEvent>) {
        (self.folder, logger, self.events) = (folder, parts.logger, events)
        links = PrivateLinks(controls: nil, passengers: nil, pin: parts.description.pin)
    }

    /// The page is at this address.
    func show(_ controls: String?, passengers: String?) {
        (links.controls, links.passengers) = (controls, passengers)
        write()
    }

    /// Follows the invitations as long as the node runs.
    func run() async {
        for await event in events {
            guard case .invitations(let open) = event else { continue }
            links.invitations = open
            write()
        }
    }

    private func write() {
        do {
            try folder.keep(text: links.text, as: Self.name)
        } catch {
            logger.warning("the links cannot be written to \(folder.path)/\(Self.name): \(error)")
        }
    }
}
