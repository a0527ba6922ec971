// SPDX-License-Identifier: Apache-2.0

/// A link's own frames to send. A peer can cause any number of pongs and acknowledgements, so only the newest of each
/// waits. Of notes on the air, routes and known states only the newest counts. Frames of other kinds are few.
struct ControlFrames: Sendable {
    /// The answer to an initiator: the first frame of a link's first record.
    private var answers: [Frame] = []
    private var finalFrames: [Frame] = []
    private var ping: UInt64?
    private var pong: UInt64?
    private var acknowledgement: UInt64?
    private var note: AirNote?
    private var route: Route??
    private var state: [StateName]?
    private var makeRoom = false

    /// The answer, if it waits.
    var answer: Frame? { answers.first }

    /// Number of waiting frames.
    var count: Int {
        answers.count + finalFrames.count + [ping, pong, acknowledgement].count { $0 != nil }
            + (note == nil ? 0 : 1) + (route == nil ? 0 : 1) + (state == nil ? 0 : 1) + (makeRoom ? 1 : 0)
    }

    /// Whether no frame waits.
    var isEmpty: Bool {
        ping == nil && pong == nil && acknowledgement == nil && answers.isEmpty && finalFrames.isEmpty && note == nil
            && route == nil && state == nil && !makeRoom
    }

    mutating func enqueue(_ frame: Frame) {
        switch frame {
        case .ping(let number): ping = number
        case .pong(let number): pong = number
        case .acknowledgement(let number): acknowledgement = max(number, acknowledgement ?? 0)
        case .air(let newest): note = newest
        case .route(let newest): route = .some(newest)
        case .state(let newest): state = newest
        case .makeRoom: makeRoom = true
        case .goodbye, .refusal: finalFrames.append(frame)
        default: answers.append(frame)
        }
    }

    /// Removes and returns the next frame, if it fits this many bytes.
    mutating func next(fitting room: Int) -> Frame? {
        if let frame = answers.first { return take(frame, room) { $0.answers.removeFirst() } }
        if let number = acknowledgement { return take(.acknowledgement(number), room) { $0.acknowledgement = nil } }
        if let number = pong { return take(.pong(number), room) { $0.pong = nil } }
        if let number = ping { return take(.ping(number), room) { $0.ping = nil } }
        if let note { return take(.air(note), room) { $0.note = nil } }
        if let route { return take(.route(route), room) { $0.route = nil } }
        if let state { return take(.state(state), room) { $0.state = nil } }
        if makeRoom { return take(.makeRoom, room) { $0.makeRoom = false } }
        return finalFrames.first.flatMap { take($0, room) { $0.finalFrames.removeFirst() } }
    }

    private mutating func take(_ frame: Frame, _ room: Int, _ remove: (inout ControlFrames) -> Void) -> Frame? {
        guard frame.byteCount <= room else { return nil }
        remove(&self)
        return frame
    }
}
