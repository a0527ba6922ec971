// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Something to tell a person: what happened, what it means for them, and what to do.
public struct Notice: Hashable, Sendable, Codable {
    /// A name for programs.
    public var code: String
    /// What happened, as a sentence.
    public var message: String
    /// What to do, as a sentence.
    public var suggestion: String?
    /// The label of the button that does it.
    public var button: String?
    /// Whether it stays until it is cured.
    public var critical: Bool
    /// Seconds after which it goes by itself; nil for never.
    public var dismissAfter: Double?

    private enum CodingKeys: String, CodingKey {
        case code, message, suggestion, button, critical, dismissAfter
    }

    /// Writes the form of `docs/using.md`: what is not there is a null, not a missing field.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(code, forKey: .code)
        try container.encode(message, forKey: .message)
        try container.encode(suggestion, forKey: .suggestion)
        try container.encode(button, forKey: .button)
        try container.encode(critical, forKey: .critical)
        try container.encode(dismissAfter, forKey: .dismissAfter)
    }

    /// A notice that goes by itself after five seconds.
    public static func passing(_ code: String, _ message: String, _ suggestion: String? = nil) -> Notice {
        Notice(
            code: code, message: message, suggestion: suggestion, button: nil, critical: false, dismissAfter: 5)
    }

    /// A notice that stays until it is cured.
    public static func staying(
        _ code: String, _ message: String, _ suggestion: String? = nil, button: String? = nil
    ) -> Notice {
        Notice(
            code: code, message: message, suggestion: suggestion, button: button, critical: true, dismissAfter: nil)
    }
}

extension Notice {
    /// A command line that is none.
    public static func badCommand(_ line: String, expected: String) -> Notice {
        passing("badCommand", "\"\(line.prefix(40))\" is not a command.", "Try: \(expected).")
    }

    /// The host has said goodbye.
    public static func hostEnded(_ host: Peer) -> Notice {
        passing(
            "hostEnded", "\(host.name) ended the session.", "Your votes are kept. Looking for a host again.")
    }

    /// The link is lost.
    public static func connectionLost(_ host: Peer) -> Notice {
        staying(
            "connectionLost", "Connection to \(host.name) lost. Trying to reconnect.",
            "You see the last known queue, and what you vote is sent when the connection is back.")
    }

    /// The link has been gone for ten seconds: the person may want to do something.
    public static func connectionLostForLong(_ host: Peer) -> Notice {
        staying(
            "connectionLost", "\(host.name) is still out of reach.",
            "You are back by yourself as soon as it is heard. Make sure Bluetooth is on, or retry now.",
            button: "Retry")
    }

    /// The link has been gone for half a minute.
    public static func hostNotFound(_ host: Peer) -> Notice {
        staying(
            "hostNotFound", "\(host.name) was not heard for 30 seconds.",
            "Your votes are kept, and the next host that is heard is joined. Make sure Bluetooth is on.",
            button: "Retry")
    }

    /// The host has said no.
    public static func refused(_ reason: RefusalReason) -> Notice {
        switch reason {
        case .full:
            staying(
                "hostFull", "The host has no room for another guest.", "Try again when somebody has left.",
                button: "Retry")
        case .version:
            staying(
                "versionMismatch", "The host speaks another version of RoadMesh.",
                "Install the same version on both boxes, then retry.", button: "Retry")
        case .banned:
            staying(
                "kicked", "The host has removed you from this session.",
                "You can join again when the driver starts a new session.")
        case .ended:
            staying("hostEnded", "The host is ending its session.", "Join again when it hosts a new one.")
        case .challenge:
            staying(
                "proofRequired", "The host asks for something that this version of RoadMesh cannot give.",
                "Install the host's version of RoadMesh, then retry.", button: "Retry")
        case .unspecified:
            staying(
                "refused", "The host does not take you in.", "Ask the driver why, then retry.", button: "Retry")
        }
    }

    /// The radio does not work.
    public static func radioUnavailable(_ cause: String) -> Notice {
        staying(
            "radioUnavailable", "The radio does not work: \(cause).",
            "Make sure that Bluetooth is on and bluetoothd runs: systemctl status bluetooth.")
    }

    /// A song cannot be put into the queue.
    public static func cannotAdd(_ songID: Song.ID, _ reason: RejectionReason) -> Notice {
        switch reason {
        case .unknownSong: passing("unknownSong", "There is no song \"\(songID)\".", "Check the song's id.")
        case .notQueued: passing("notQueued", "\"\(songID)\" is not in the queue.", "Suggest it first.")
        case .alreadyPlaying: passing("alreadyPlaying", "\"\(songID)\" is playing right now.")
        case .alreadyVoted: passing("alreadyVoted", "\"\(songID)\" has that vote already.")
        case .queueFull: passing("queueFull", "The queue is full.", "Try again after the next song.")
        }
    }

    /// The song to remove is not there.
    public static func notInQueue(_ songID: Song.ID) -> Notice {
        passing("notQueued", "\"\(songID)\" is not in the queue.", "Use the id of a song in the queue.")
    }

    /// The guest to kick is not there.
    public static func noSuchGuest(_ name: String) -> Notice {
        passing("noSuchGuest", "No guest is called \"\(name)\".", "Use a guest's name or id.")
    }

    /// A wish that cannot wait for a link.
    public static let notConnected = passing(
        "notConnected", "There is no host right now.", "Votes are kept and sent later; suggest again when connected.")

    /// Too many votes wait.
    public static let tooManyPendingVotes = passing(
        "tooManyPendingVotes", "\(DJLimits.pendingVotes) votes wait to be sent already.",
        "Vote again when the connection is back.")
}
