// SPDX-License-Identifier: Apache-2.0

import NodeCore
import DemocracyDJ
import Testing

@testable import HostIntegration
@testable import MusicLibrary

@Suite("What people see of a playlist")
struct PlaylistReportTests {
    private func codes(_ inputs: [NodeInput]) -> [String] {
        inputs.map { input in
            switch input {
            case .notice(let notice): notice.code
            case .cleared(let code): "no " + code
            default: "?"
            }
        }
    }

    private func songs(_ found: Int, missing: Int) -> PlaylistSongs {
        var songs = PlaylistSongs()
        songs.songs = (0..<found).map { "s\($0)" }
        songs.entries = found + missing
        songs.missing = missing
        songs.example = missing > 0 ? "/m/x.mp3" : nil
        return songs
    }

    @Test("is each change once: that it cannot be read, that all or some of it is missing, and that this is over")
    func changes() {
        var report = PlaylistReport()
        let path = "/m/party.m3u"
        #expect(codes(report.handle(nil, of: path)) == ["playlistUnreadable"])
        #expect(codes(report.handle(nil, of: path)) == [])
        #expect(codes(report.handle(songs(0, missing: 12), of: path)) == ["no playlistUnreadable", "playlistEmpty"])
        #expect(codes(report.handle(songs(10, missing: 2), of: path)) == ["no playlistEmpty", "playlistIncomplete"])
        #expect(codes(report.handle(songs(10, missing: 2), of: path)) == [])
        #expect(
            codes(report.handle(songs(11, missing: 1), of: path)) == ["no playlistIncomplete", "playlistIncomplete"])
        #expect(codes(report.handle(songs(12, missing: 0), of: path)) == ["no playlistIncomplete"])
        #expect(codes(report.handle(songs(0, missing: 0), of: path)) == ["playlistEmpty"])
    }
}
