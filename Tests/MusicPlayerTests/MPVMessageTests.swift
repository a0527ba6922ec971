// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NIOCore
import Testing

@testable import MusicPlayer

@Suite("The messages to and from mpv")
struct MPVMessageTests {
    @Test("a request is a line of JSON, whatever the file name")
    func requests() throws {
        let path = "/music/\"quoted\"\n\\ünïcödé 100%.mp3"
        let line = String(
            decoding: try MPVCommand.load(path: path, from: .milliseconds(1_500)).line(request: 7), as: UTF8.self)
        #expect(line.hasSuffix("\n") && line.dropLast().allSatisfy { $0 != "\n" })
        #expect(line.contains(#""request_id":7"#) && line.contains(#""options":{"start":"1.5"}"#))
        #expect(line.contains(#"\"quoted\"\n\\ünïcödé 100%.mp3"#))
        let pause = String(decoding: try MPVCommand.pause(true).line(request: 8), as: UTF8.self)
        #expect(pause.contains(#"["set_property","pause",true]"#))
    }

    @Test(
        "messages of mpv are understood",
        arguments: [
            (#"{"request_id":3,"error":"success","data":{"playlist_entry_id":9}}"#, .answer(request: 3, .entry(9))),
            (#"{"data":12.5,"request_id":4,"error":"success"}"#, .answer(request: 4, .place(.seconds(12.5)))),
            (#"{"data":-0.18,"request_id":4,"error":"success"}"#, .answer(request: 4, .place(.zero))),
            (#"{"data":1e300,"request_id":4,"error":"success"}"#, .answer(request: 4, .place(.seconds(31_536_000)))),
            (#"{"data":null,"request_id":5,"error":"success"}"#, .answer(request: 5, .done)),
            (
                #"{"request_id":6,"error":"property unavailable"}"#,
                .answer(request: 6, .refused("property unavailable"))
            ),
            (#"{"event":"start-file","playlist_entry_id":2}"#, .event(.began(2))),
            (#"{"event":"playback-restart"}"#, .event(.sounding)),
            (#"{"event":"end-file","reason":"eof","playlist_entry_id":1}"#, .event(.ended(1, .atItsEnd))),
            (
                #"{"event":"end-file","reason":"error","playlist_entry_id":1,"file_error":"loading failed"}"#,
                .event(.ended(1, .failed("loading failed")))
            ),
            (
                #"{"event":"end-file","reason":"error","playlist_entry_id":1,"#
                    + #""file_error":"no audio or video data played"}"#, .event(.ended(1, .nothingPlayed))
            ),
            (
                #"{"event":"end-file","reason":"error","playlist_entry_id":1,"#
                    + #""file_error":"audio output initialization failed"}"#, .event(.ended(1, .noSound))
            ),
            (#"{"event":"end-file","reason":"news","playlist_entry_id":1}"#, .event(.ended(1, .stopped))),
        ] as [(String, MPVMessage)])
    func understood(line: String, message: MPVMessage) {
        #expect(MPVMessage(line: Array(line.utf8)) == message)
    }

    @Test(
        "messages that mpv cannot have sent are ignored",
        arguments: [
            "", "{", "null", "[]", "{}", #"{"event":7}"#, #"{"event":"news"}"#, #"{"event":"end-file"}"#,
            #"{"request_id":1e300,"error":"success"}"#, #"{"error":"success"}"#,
            String(repeating: "[", count: 50_000),
        ])
    func passedOver(line: String) {
        #expect(MPVMessage(line: Array(line.utf8)) == nil)
    }

    @Test("lines are split as they arrive, and one that does not end is an error")
    func lines() throws {
        var lines = MPVLines(limit: 5)
        var buffer = ByteBuffer(string: "one\ntw")
        #expect(try lines.decode(buffer: &buffer) == Array("one".utf8))
        #expect(try lines.decode(buffer: &buffer) == nil)
        buffer.writeString("o\n\n123456")
        #expect(try lines.decode(buffer: &buffer) == Array("two".utf8))
        #expect(try lines.decode(buffer: &buffer) == [])
        #expect(throws: MPVLines.TooLong.self) { try lines.decode(buffer: &buffer) }
    }
}
