// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NIOCore
import NodeCore

/// An encoded view, shared by all pages of a viewer.
struct EncodedView: Sendable {
    let version: Int
    let madeAt: MeshInstant
    private var text: QueueJSON<NodeView.Item>

    /// Encodes a view. `last` is the same viewer's previous view, whose unchanged parts are reused.
    init(_ view: NodeView, after last: EncodedView?, now: MeshInstant) throws {
        version = view.version
        madeAt = now
        text = last?.text ?? QueueJSON()
        var rest = view
        rest.queue = []
        try text.write(rest, queue: view.queue)
    }

    /// The server-sent event for a page.
    var frame: ByteBuffer {
        var frame = ByteBuffer()
        frame.reserveCapacity(text.line.count + 32)
        frame.writeStaticString("event: view\ndata: ")
        frame.writeBytes(text.line)
        frame.writeStaticString("\n\n")
        return frame
    }

    /// Whether the view can be reused. The position in the song is correct only at the time of encoding.
    func isFresh(_ version: Int, now: MeshInstant) -> Bool {
        self.version == version && now < madeAt + DashboardLimits.encodedViewLife
    }
}

/// Counts changes of the views, for all viewers or for one.
struct ViewVersions: Sendable {
    private var last = 1
    private var ofAll = 1
    private var own: [ViewStreams.Viewer: Int] = [:]

    /// Counts a change of everyone's view, or of one viewer's view.
    mutating func changed(_ viewer: ViewStreams.Viewer?) {
        last += 1
        if let viewer { own[viewer] = last } else { ofAll = last }
    }

    /// The version of a viewer's view.
    subscript(viewer: ViewStreams.Viewer) -> Int { max(ofAll, own[viewer] ?? 0) }

    /// Removes a viewer that has no open page.
    mutating func forget(_ viewer: ViewStreams.Viewer) { own[viewer] = nil }
}
