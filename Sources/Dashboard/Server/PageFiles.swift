// SPDX-License-Identifier: Apache-2.0

import Crypto
import DemocracyDJ
import MeshProtocol

/// The files of the page. The program's executable contains them.
enum PageFiles {
    /// Returns the content of a file. It stays in the executable until a browser requests it: copying and hashing all
    /// files was 5 % of the memory pages that a start touched.
    typealias Content = @Sendable () -> [UInt8]

    /// A file.
    struct File: Sendable {
        let path: String
        let mediaType: String
        private let content: Content

        init(_ path: String, _ mediaType: String, _ content: @escaping @autoclosure Content) {
            self.path = path
            self.mediaType = mediaType
            self.content = content
        }

        static func style(_ name: String, _ content: @escaping @autoclosure Content) -> File {
            File("/" + name, "text/css; charset=utf-8", content())
        }

        static func script(_ name: String, _ content: @escaping @autoclosure Content) -> File {
            File("/" + name, "text/javascript; charset=utf-8", content())
        }

        var bytes: [UInt8] { content() }

        /// A tag that changes with the content.
        var entityTag: String { PageFiles.entityTags[path] ?? PageFiles.entityTag(bytes) }
    }

    /// The page itself.
    static let index = File("/", "text/html; charset=utf-8", PackageResources.index_html)

    /// All files, and the texts of the other languages. Add one line per new file.
    static let all: [File] =
        [
            index,
            File("/icon-180.png", "image/png", PackageResources.icon_180_png),
            File("/icon-512.png", "image/png", PackageResources.icon_512_png),
            File("/icon.svg", "image/svg+xml", PackageResources.icon_svg),
            File("/manifest.webmanifest", "application/manifest+json", PackageResources.manifest_webmanifest),
            .style("driving.css", PackageResources.driving_css),
            .style("lists.css", PackageResources.lists_css),
            .style("night.css", PackageResources.night_css),
            .style("small.css", PackageResources.small_css),
            .style("style.css", PackageResources.style_css),
            .script("about.js", PackageResources.about_js),
            .script("actions.js", PackageResources.actions_js),
            .script("app.js", PackageResources.app_js),
            .script("choosing.js", PackageResources.choosing_js),
            .script("cohost.js", PackageResources.cohost_js),
            .script("commands.js", PackageResources.commands_js),
            .script("controls.js", PackageResources.controls_js),
            .script("copying.js", PackageResources.copying_js),
            .script("dashboard.js", PackageResources.dashboard_js),
            .script("dom.js", PackageResources.dom_js),
            .script("driving.js", PackageResources.driving_js),
            .script("favourite.js", PackageResources.favourite_js),
            .script("fresh.js", PackageResources.fresh_js),
            .script("guests.js", PackageResources.guests_js),
            .script("header.js", PackageResources.header_js),
            .script("hold.js", PackageResources.hold_js),
            .script("hostrow.js", PackageResources.hostrow_js),
            .script("icons.js", PackageResources.icons_js),
            .script("invitation.js", PackageResources.invitation_js),
            .script("join.js", PackageResources.join_js),
            .script("keyboard.js", PackageResources.keyboard_js),
            .script("language.js", PackageResources.language_js),
            .script("last.js", PackageResources.last_js),
            .script("limits.js", PackageResources.limits_js),
            .script("menu.js", PackageResources.menu_js),
            .script("names.js", PackageResources.names_js),
            .script("node.js", PackageResources.node_js),
            .script("notices.js", PackageResources.notices_js),
            .script("outbox.js", PackageResources.outbox_js),
            .script("placing.js", PackageResources.placing_js),
            .script("playing.js", PackageResources.playing_js),
            .script("playlist.js", PackageResources.playlist_js),
            .script("queue.js", PackageResources.queue_js),
            .script("reach.js", PackageResources.reach_js),
            .script("refusals.js", PackageResources.refusals_js),
            .script("reorder.js", PackageResources.reorder_js),
            .script("search.js", PackageResources.search_js),
            .script("seek.js", PackageResources.seek_js),
            .script("shell.js", PackageResources.shell_js),
            .script("shelves.js", PackageResources.shelves_js),
            .script("storage.js", PackageResources.storage_js),
            .script("stream.js", PackageResources.stream_js),
            .script("tabs.js", PackageResources.tabs_js),
            .script("text.js", PackageResources.text_js),
            .script("theme.js", PackageResources.theme_js),
            .script("tree.js", PackageResources.tree_js),
            .script("undo.js", PackageResources.undo_js),
            .script("volume.js", PackageResources.volume_js),
            .script("worker.js", PackageResources.worker_js),
        ]
        + Language.allCases.compactMap { language in
            language.file.map { table in File("/\(language.rawValue).json", "application/json", table) }
        }

    /// The entity tags by path.
    private static let entityTags = Dictionary(uniqueKeysWithValues: all.map { ($0.path, entityTag($0.bytes)) })

    /// The tag of the complete page, which changes with any of its files. `fresh.js` compares it.
    static let indexTag = entityTag(all.flatMap { Array($0.entityTag.utf8) })

    /// A strong entity tag (RFC 9110, 8.8.3) of a file's content.
    static func entityTag(_ bytes: [UInt8]) -> String {
        "\"\(Hex.text(SHA256.hash(data: bytes).prefix(12)))\""
    }
}
