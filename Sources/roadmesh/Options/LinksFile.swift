// SPDX-License-Identifier: Apache-2.0

import Logging
import MeshNode
import NodeCore
import NodeStore
import ServiceLifecycle
import TerminalUI

/// Writes the secrets of a running node to the file `links` of its state folder. Only the owner can read this file.
/// Logs contain only its path.
actor LinksFile: Service {
    static let name = "links"

    private let folder: StateFolder
    private let logger: Logger
    private let events: AsyncStream<NodeEvent>
    private var links: PrivateLinks

    /// Creates the file's writer before the node runs.
    init(_ parts: NodeOptions.Node, folder: StateFolder, events: AsyncStream<NodeEvent>) {
        (self.folder, logger, self.events) = (folder, parts.logger, events)
        links = PrivateLinks(controls: nil, passengers: nil, pin: parts.description.pin)
    }

    /// Stores the addresses of the page.
    func show(_ controls: String?, passengers: String?) {
        (links.controls, links.passengers) = (controls, passengers)
        write()
    }

    /// Writes the invitations whenever they change, until the node stops.
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
