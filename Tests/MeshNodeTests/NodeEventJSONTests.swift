// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import MeshProtocol
import NodeCore
import Testing

@Suite("The JSON events for programs")
struct NodeEventJSONTests {
    static let ana = Peer(id: "a1", name: "Ana")
    static let song = Song(id: "s1", title: "T", artist: "A", duration: 2)
    static let snapshot = HostSnapshot(
        epoch: 7, revision: 3, nowPlaying: nil, isPlaying: false, elapsed: 0.5,
        queue: [QueueItem(song: song, addedBy: "c0", voters: ["a1"])], connectedPeers: [ana])
    static let onAdapter: RadioActivity = {
        var activity = RadioActivity()
        activity.adapter = AdapterTiming(
            isSetByNode: true, advertising: 20...20, connection: 7.5...7.5, supervisionTimeout: 720,
            foundWithin: DialTime(milliseconds: 61))
        return activity
    }()

    @Test(
        "every event has the fields of the contract",
        arguments: [
            (
                .ready(
                    NodeDescription(role: .guest, peer: ana, radio: "virtual a", service: .democracyDJ)),
                #"{"at":1.5,"event":"ready","http":null,"peer":{"id":"a1","name":"Ana"},"radio":"virtual a","#
                    + #""role":"guest","service":"democracy-dj","version":"\#(RoadMeshVersion.text)"}"#
            ),
            (
                .peerDiscovered(HeardNode(ana, rssi: -40)),
                #"{"at":1.5,"event":"peerDiscovered","hops":0,"peer":{"id":"a1","name":"Ana"},"rssi":-40}"#
            ),
            (
                .peerDiscovered(HeardNode(ana, relay: nil, hops: 1)),
                #"{"at":1.5,"event":"peerDiscovered","hops":1,"peer":{"id":"a1","name":"Ana"},"rssi":null}"#
            ),
            (
                .peerDiscovered(HeardNode(ana, relay: "b2", hops: 2, rssi: -60, hasRoom: false)),
                #"{"at":1.5,"event":"peerDiscovered","hops":2,"peer":{"id":"a1","name":"Ana"},"relay":{"id":"b2"},"#
                    + #""room":false,"rssi":-60}"#
            ),
            (.peerLost(ana), #"{"at":1.5,"event":"peerLost","peer":{"id":"a1","name":"Ana"}}"#),
            (
                .peerLost(ana, via: "b2"),
                #"{"at":1.5,"event":"peerLost","peer":{"id":"a1","name":"Ana"},"relay":{"id":"b2"}}"#
            ),
            (.linkEnded(ana), #"{"at":1.5,"event":"linkEnded","peer":{"id":"a1","name":"Ana"}}"#),
            (
                .peerDisconnected(ana, .linkLost),
                #"{"at":1.5,"event":"peerDisconnected","peer":{"id":"a1","name":"Ana"},"reason":"linkLost"}"#
            ),
            (
                .contact(Encounter(lost: ana, .linkLost, at: .now)),
                #"{"at":1.5,"event":"contact","peer":{"id":"a1","name":"Ana"},"phase":"lost","silence":0.42}"#
            ),
            (
                .contact(Encounter(lost: ana, .goodbye(), at: .now)),
                #"{"at":1.5,"event":"contact","peer":{"id":"a1","name":"Ana"},"phase":"lost"}"#
            ),
            (
                .contact(Encounter(.heard, ana, at: .now, by: .sighting, rssi: -70)),
                #"{"at":1.5,"event":"contact","evidence":"sighting","peer":{"id":"a1","name":"Ana"},"phase":"heard","#
                    + #""rssi":-70}"#
            ),
            (
                .radio(RadioActivity()),
                #"{"advertising":false,"at":1.5,"dialling":false,"event":"radio","links":0,"scanning":false}"#
            ),
            (
                .radio(onAdapter),
                #"{"adapter":{"advertisingInterval":[20,20],"foundWithin":61,"interval":[7.5,7.5],"setBy":"roadmesh","#
                    + #""supervisionTimeout":720},"advertising":false,"at":1.5,"dialling":false,"event":"radio","#
                    + #""links":0,"scanning":false}"#
            ),
            (.mark("tunnel in"), #"{"at":1.5,"event":"mark","text":"tunnel in"}"#),
            (
                .connection(.reconnecting(attempt: 2)),
                #"{"at":1.5,"attempt":2,"event":"connection","state":"reconnecting"}"#
            ),
            (
                .connection(.failed(.connectionFailed(reason: "hostNotFound"))),
                #"{"at":1.5,"error":"hostNotFound","event":"connection","state":"failed"}"#
            ),
            (
                .snapshot(snapshot, isStale: false),
                #"{"at":1.5,"connectedPeers":[{"id":"a1","name":"Ana"}],"drivers":[],"elapsed":0.5,"epoch":7,"#
                    + #""event":"snapshot","isPlaying":false,"nowPlaying":null,"queue":[{"addedBy":"c0","artist":"A","duration":2,"#
                    + #""id":"s1","title":"T","voters":["a1"],"votes":1}],"revision":3,"skipVoters":[],"sound":true,"#
                    + #""stale":false,"unnamedGuests":0}"#
            ),
            (
                .playback(Playback(song: song, isPlaying: true, elapsed: .seconds(1), next: nil)),
                #"{"at":1.5,"duration":2,"elapsed":1,"event":"playback","isPlaying":true,"songID":"s1","sound":true}"#
            ),
            (
                .playback(Playback(song: nil, isPlaying: false, elapsed: .zero, next: nil)),
                #"{"at":1.5,"duration":null,"elapsed":0,"event":"playback","isPlaying":false,"songID":null,"sound":true}"#
            ),
            (
                .steering(Steering(undo: .kick(name: "Ana"), canGoBack: true, volume: 40, ducked: 20)),
                #"{"at":1.5,"canGoBack":true,"duck":20,"event":"steering","shuffle":false,"undo":{"kind":"kick","name":"Ana"},"volume":40}"#
            ),
            (
                .steering(Steering()),
                #"{"at":1.5,"canGoBack":false,"duck":null,"event":"steering","shuffle":false,"undo":null,"volume":null}"#
            ),
            (.library(SongLibrary([song])), #"{"at":1.5,"event":"library","songs":1}"#),
            (
                .wish("s1", .vote, .rejected(.notQueued)),
                #"{"at":1.5,"event":"vote","reason":"notQueued","songID":"s1","state":"rejected","wish":"vote"}"#
            ),
            (
                .intent(.vote(songID: "s1"), from: ana, rejected: nil),
                #"{"accepted":true,"at":1.5,"event":"intent","kind":"vote","peer":{"id":"a1","name":"Ana"},"#
                    + #""songID":"s1"}"#
            ),
            (
                .notice(Notice(.nothingPlays)),
                #"{"at":1.5,"button":null,"cause":null,"code":"nothingPlays","critical":false,"dismissAfter":5,"event":"notice","#
                    + #""message":"Nothing plays now.","suggestion":"To start the music, type play."}"#
            ),
            (
                .wish("s1", .suggest, .sent),
                #"{"at":1.5,"event":"suggestion","songID":"s1","state":"sent"}"#
            ),
            (
                .searchResults([song], query: "t"),
                #"{"albums":[],"artists":[],"at":1.5,"event":"searchResults","from":0,"groups":[],"lookedFor":null,"query":"t","shelf":"words","#
                    + #""songs":[{"artist":"A","duration":2,"id":"s1","title":"T"}],"total":1}"#
            ),
            (.artwork("s1", path: "/a.png"), #"{"at":1.5,"event":"artwork","path":"/a.png","songID":"s1"}"#),
            (.noticeCleared(code: "x"), #"{"at":1.5,"code":"x","event":"noticeCleared"}"#),
            (
                .link(
                    ana,
                    LinkReport(
                        rssi: -50, roundTrip: .milliseconds(12), sentBytes: 1, receivedBytes: 2, resent: 4,
                        duplicates: 5, outbox: 3)),
                #"{"at":1.5,"duplicates":5,"event":"link","hops":0,"outbox":3,"peer":{"id":"a1","name":"Ana"},"#
                    + #""receivedBytes":2,"resent":4,"rssi":-50,"rttMilliseconds":12,"sentBytes":1}"#
            ),
            (
                .link(
                    ana,
                    LinkReport(
                        condition: LinkCondition(
                            got: LinkParameters(phy: "1M", interval: 15, supervisionTimeout: 720, dataLength: 251),
                            asked: LinkParameters(phy: "2M"), notPermitted: ["interval"]))),
                #"{"asked":{"phy":"2M"},"at":1.5,"dataLength":251,"duplicates":0,"event":"link","hops":0,"interval":15,"#
                    + #""notPermitted":["interval"],"outbox":0,"peer":{"id":"a1","name":"Ana"},"phy":"1M","#
                    + #""receivedBytes":0,"resent":0,"rssi":null,"rttMilliseconds":null,"sentBytes":0,"#
                    + #""supervisionTimeout":720}"#
            ),
            (.bye(.endOfInput), #"{"at":1.5,"event":"bye","reason":"endOfInput"}"#),
        ] as [(NodeEvent, String)])
    func contract(event: NodeEvent, json: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(String(decoding: try encoder.encode(TimedEvent(event, at: 1.5)), as: UTF8.self) == json)
    }

    @Test("control characters and marks that change the direction of text are escaped")
    func hiddenCharacters() throws {
        let name = "a\u{7F}\u{85}\u{9B}31m\u{202E}\u{2066}\u{200F}\u{061C}\u{2028}é漢🚗"
        var lines = EventLines()
        for text in [JSONLine.text([name]), lines.text(.peerConnected(Peer(id: "b2", name: name)), at: 1.5)] {
            #expect(
                text.contains(#"a\u007f\u0085\u009b31m\u202e\u2066\u200f\u061c\u2028é漢🚗"#), "\(text.debugDescription)")
        }
        #expect(try JSONDecoder().decode([String].self, from: Data(JSONLine.text([name]).utf8)) == [name])
    }

    @Test("a state has the same text whether or not its songs were written before, whatever their names")
    func knownSongs() throws {
        var lines = EventLines()
        var snapshot = Self.snapshot
        let tricky = Song(id: #""queue":[]"#, title: #"\"queue\":[] "queue":[]"#, artist: "ä\u{1F697}", duration: 1.25)
        func isTheSame() -> Bool {
            let event = NodeEvent.snapshot(snapshot, isStale: false)
            return lines.text(event, at: 1.5) == JSONLine.text(TimedEvent(event, at: 1.5))
        }
        #expect(isTheSame())
        snapshot.connectedPeers = [Peer(id: "b2", name: #","queue":[]"#)]
        snapshot.nowPlaying = QueueItem(song: tricky, addedBy: "c0")
        #expect(isTheSame())
        snapshot.queue.append(QueueItem(song: tricky, addedBy: "c0", voters: ["a1", "b2"]))
        #expect(isTheSame())
        snapshot.queue[0].voters = []
        snapshot.queue[1].song.title = "Another"
        snapshot.queue.swapAt(0, 1)
        #expect(isTheSame())
        snapshot.queue = []
        #expect(isTheSame())
        snapshot.queue = [QueueItem(song: Self.song, addedBy: "a1")]
        #expect(isTheSame())
    }
}
