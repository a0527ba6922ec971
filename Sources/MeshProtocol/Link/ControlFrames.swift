// SPDX-License-Identifier: Apache-2.0

/// A link's own frames that wait to leave. A peer can provoke pongs and acknowledgements without end, so of those only
/// the newest waits; of the others there are a handful in a link's life.
struct ControlFrames: Sendable {
    private var others: [Frame] = []
    private var ping: UInt64?
    private var pong: UInt64?
    private var acknowledgement: UInt64?

    var isEmpty: Bool { others.isEmpty && ping == nil && pong == nil && acknowledgement == nil }

    mutating func enqueue(_ frame: Frame) {
        switch frame {
        case .ping(let number): ping = number
        case .pong(let number): pong = number
        case .acknowledgement(let number): acknowledgement = max(number, acknowledgement ?? 0)
        default: others.append(frame)
        }
    }

    /// Takes out what leaves next, where it has at most this many bytes. A goodbye or a refusal comes after the rest.
    mutating func next(fitting room: Int) -> Frame? {
        if let number = acknowledgement { return take(.acknowledgement(number), room) { $0.acknowledgement = nil } }
        if let number = pong { return take(.pong(number), room) { $0.pong = nil } }
        if let number = ping { return take(.ping(number), room) { $0.ping = nil } }
        return others.first.flatMap { take($0, room) { $0.others.removeFirst() } }
    }

    private mutating func take(_ frame: Frame, _ room: Int, _ remove: (inout ControlFrames) -> Void) -> Frame? {
        guard frame.byteCount <= room else { return nil }
        remove(&self)
        return frame
    }
}
