// SPDX-License-Identifier: Apache-2.0

import MeshNode
import MeshProtocol
import NIOCore

/// A view as it is sent, for everybody who sees the same.
struct EncodedView: Sendable {
    let version: Int
    let madeAt: MeshInstant
    private var text: QueueJSON<NodeView.Item>

    /// `last` is the same viewer's view before, of which much is still right.
    init(_ view: NodeView, after last: EncodedView?, now: MeshInstant) throws {
        version = view.version
        madeAt = now
        text = last?.text ?? QueueJSON()
        var rest = view
        rest.queue = []
        try text.write(rest, queue: view.queue)
    }

    /// What goes to a page.
    var frame: ByteBuffer {
        var frame = ByteBuffer()
        frame.reserveCapacity(text.line.count + 32)
        frame.writeStaticString("event: view\ndata: ")
        frame.writeBytes(text.line)
        frame.writeStaticString("\n\n")
        return frame
    }

    /// How long the song has played was right when it was encoded.
    func isFresh(_ version: Int, now: MeshInstant) -> Bool {
        self.version == version && now < madeAt + DashboardLimits.encodedViewLife
    }
}

/// Counts the changes of what is seen, by everybody or by one.
struct ViewVersions: Sendable {
    private var last = 1
    private var ofAll = 1
    private var own: [ViewStreams.Viewer: Int] = [:]

    /// What everybody sees has changed, or where a viewer is named, what that one sees.
    mutating func changed(_ viewer: ViewStreams.Viewer?) {
        last += 1
        if let viewer { own[viewer] = last } else { ofAll = last }
    }

    /// The version of what somebody sees.
    subscript(viewer: ViewStreams.Viewer) -> Int { max(ofAll, own[viewer] ?? 0) }

    /// This viewer has no open page any more.
    mutating func forget(_ viewer: ViewStreams.Viewer) { own[viewer] = nil }
}
