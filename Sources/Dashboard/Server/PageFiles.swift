// SPDX-License-Identifier: Apache-2.0

import Crypto
import MeshProtocol
import NIOCore

/// The files of the page, which are in the program.
enum PageFiles {
    /// A file.
    struct File: Sendable {
        let path: String
        let mediaType: String
        let bytes: ByteBuffer
        /// Another one where the file is another.
        let entityTag: String

        init(_ path: String, _ mediaType: String, _ bytes: [UInt8]) {
            self.path = path
            self.mediaType = mediaType
            self.bytes = ByteBuffer(bytes: bytes)
            entityTag = PageFiles.entityTag(bytes)
        }

        static func style(_ name: String, _ bytes: [UInt8]) -> File {
            File("/" + name, "text/css; charset=utf-8", bytes)
        }

        static func script(_ name: String, _ bytes: [UInt8]) -> File {
            File("/" + name, "text/javascript; charset=utf-8", bytes)
        }
    }

    /// The page itself.
    static let index = File("/", "text/html; charset=utf-8", PackageResources.index_html)

    /// All of them. One more is a line more.
    static let all: [File] = [
        index,
        File("/icon.svg", "image/svg+xml", PackageResources.icon_svg),
        .style("lists.css", PackageResources.lists_css),
        .style("night.css", PackageResources.night_css),
        .style("style.css", PackageResources.style_css),
        .script("app.js", PackageResources.app_js),
        .script("choosing.js", PackageResources.choosing_js),
        .script("commands.js", PackageResources.commands_js),
        .script("controls.js", PackageResources.controls_js),
        .script("dashboard.js", PackageResources.dashboard_js),
        .script("dom.js", PackageResources.dom_js),
        .script("guests.js", PackageResources.guests_js),
        .script("header.js", PackageResources.header_js),
        .script("icons.js", PackageResources.icons_js),
        .script("invitation.js", PackageResources.invitation_js),
        .script("join.js", PackageResources.join_js),
        .script("limits.js", PackageResources.limits_js),
        .script("node.js", PackageResources.node_js),
        .script("notices.js", PackageResources.notices_js),
        .script("outbox.js", PackageResources.outbox_js),
        .script("playing.js", PackageResources.playing_js),
        .script("queue.js", PackageResources.queue_js),
        .script("reach.js", PackageResources.reach_js),
        .script("refusals.js", PackageResources.refusals_js),
        .script("search.js", PackageResources.search_js),
        .script("storage.js", PackageResources.storage_js),
        .script("stream.js", PackageResources.stream_js),
        .script("tabs.js", PackageResources.tabs_js),
        .script("text.js", PackageResources.text_js),
        .script("theme.js", PackageResources.theme_js),
        .script("tree.js", PackageResources.tree_js),
    ]

    /// A strong entity tag (RFC 9110, 8.8.3) of what a file holds.
    static func entityTag(_ bytes: [UInt8]) -> String {
        "\"\(Hex.text(SHA256.hash(data: bytes).prefix(12)))\""
    }
}
