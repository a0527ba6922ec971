// SPDX-License-Identifier: Apache-2.0

import MeshNode
import MeshProtocol
import NIOCore

/// A view as it is sent, for everybody who sees the same.
struct EncodedView: Sendable {
    let version: Int
    let madeAt: MeshInstant
    let frame: ByteBuffer

    init(_ view: NodeView, now: MeshInstant) throws {
        version = view.version
        madeAt = now
        frame = ByteBuffer(bytes: Array("event: view\ndata: ".utf8) + (try JSONLine.bytes(view)) + [10, 10])
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
