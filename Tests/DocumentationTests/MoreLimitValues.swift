// SPDX-License-Identifier: Apache-2.0

@testable import BLETransport
@testable import Bearers
@testable import BrokerBearer
@testable import CoverArt
@testable import Dashboard
@testable import Diagnostics
@testable import FieldTest
@testable import HostIntegration
@testable import LANBearer
@testable import MusicLibrary
@testable import MusicPlayer
@testable import TerminalUI
@testable import roadmesh

/// The limits of bearers, and of the parts around a node. Add new limits here; a test checks this.
extension LimitTable {
    static let bearers = LimitTable(
        "BearerLimits", "Sources/Bearers/BearerLimits.swift",
        [
            .init("fastAdvertisingMilliseconds", BearerLimits.fastAdvertisingMilliseconds),
            .init("slowAdvertisingMilliseconds", BearerLimits.slowAdvertisingMilliseconds),
            .init("eagerAdvertising", BearerLimits.eagerAdvertising),
            .init("scanResults", BearerLimits.scanResults),
            .init("scanResultRepeat", BearerLimits.scanResultRepeat),
            .init("airPoll", BearerLimits.airPoll),
            .init("virtualScanResultLifetime", BearerLimits.virtualScanResultLifetime),
            .init("dialLimit", BearerLimits.dialLimit),
            .init("virtualCallersPerSecond", BearerLimits.virtualCallersPerSecond),
            .init("virtualCallerBurst", BearerLimits.virtualCallerBurst),
            .init("callerPause", BearerLimits.callerPause),
            .init("acceptPause", BearerLimits.acceptPause),
            .init("networkFirst", BearerLimits.networkFirst),
            .init("brokerLast", BearerLimits.brokerLast),
            .init("nearPause", BearerLimits.nearPause),
            .init("nearScan", BearerLimits.nearScan),
            .init("betterPause", BearerLimits.betterPause),
            .init("betterDial", BearerLimits.betterDial),
            .init("radioEvents", BearerLimits.radioEvents),
            .init("channelBufferBytes", BearerLimits.channelBufferBytes),
            .init("acknowledgementPause", BearerLimits.acknowledgementPause),
            .init("adapterLook", BearerLimits.adapterLook),
        ])

    static let radio = LimitTable(
        "RadioLimits", "Sources/BLETransport/RadioLimits.swift",
        [
            .init("advertisingRenewal", RadioLimits.advertisingRenewal),
            .init("registerTries", RadioLimits.registerTries),
            .init("kernelAdvertising", RadioLimits.kernelAdvertising),
            .init("refusedRenewal", RadioLimits.refusedRenewal),
            .init("registerGrace", RadioLimits.registerGrace),
            .init("registerPause", RadioLimits.registerPause),
            .init("firstRescan", RadioLimits.firstRescan),
            .init("slowestRescan", RadioLimits.slowestRescan),
            .init("quietScan", RadioLimits.quietScan),
            .init("scanBreath", RadioLimits.scanBreath),
            .init("dialRenewal", RadioLimits.dialRenewal),
            .init("linkedDialRenewal", RadioLimits.linkedDialRenewal),
            .init("linkedDials", RadioLimits.linkedDials),
            .init("dialRepeats", RadioLimits.dialRepeats),
            .init("dialPause", RadioLimits.dialPause),
            .init("dialAnswered", RadioLimits.dialAnswered),
            .init("unusedLink", RadioLimits.unusedLink),
            .init("emptyLink", RadioLimits.emptyLink),
            .init("emptyLinks", RadioLimits.emptyLinks),
            .init("firstChannel", RadioLimits.firstChannel),
            .init("busEvents", RadioLimits.busEvents),
            .init("gattGuests", RadioLimits.gattGuests),
            .init("gattPlace", RadioLimits.gattPlace),
            .init("gattValueBytes", RadioLimits.gattValueBytes),
            .init("gattBufferBytes", RadioLimits.gattBufferBytes),
            .init("busCall", RadioLimits.busCall),
            .init("controllerAnswer", RadioLimits.controllerAnswer),
            .init("promptAnswer", RadioLimits.promptAnswer),
            .init("pairingSearch", RadioLimits.pairingSearch),
            .init("pairingGather", RadioLimits.pairingGather),
            .init("linkEnd", RadioLimits.linkEnd), .init("pairingPatience", RadioLimits.pairingPatience),
            .init("pairingAnswer", RadioLimits.pairingAnswer),
            .init("pairingStep", RadioLimits.pairingStep),
            .init("pairingLastWord", RadioLimits.pairingLastWord),
            .init("pairingMeetings", RadioLimits.pairingMeetings),
            .init("pairingCall", RadioLimits.pairingCall),
            .init("pairingEvents", RadioLimits.pairingEvents),
            .init("pairingDevices", RadioLimits.pairingDevices),
            .init("checkup", RadioLimits.checkup),
            .init("programAnswer", RadioLimits.programAnswer),
            .init("reception", RadioLimits.reception),
            .init("measuredIntervals", RadioLimits.measuredIntervals),
            .init("measuring", RadioLimits.measuring),
            .init("freshHearing", RadioLimits.freshHearing),
            .init("controllerCheck", RadioLimits.controllerCheck),
            .init("controllerSilence", RadioLimits.controllerSilence),
            .init("controllerSilences", RadioLimits.controllerSilences),
            .init("adapterGrace", RadioLimits.adapterGrace),
            .init("switchLook", RadioLimits.switchLook),
            .init("unblockedGrace", RadioLimits.unblockedGrace),
            .init("restoresBeforeReset", RadioLimits.restoresBeforeReset),
            .init("resetsBeforeMove", RadioLimits.resetsBeforeMove),
            .init("resetForgotten", RadioLimits.resetForgotten),
            .init("powerCall", RadioLimits.powerCall),
            .init("dialledInterval", RadioLimits.dialledInterval, in: .intervals),
            .init("dialledPeers", RadioLimits.dialledPeers),
            .init("linkPacketBytes", RadioLimits.linkPacketBytes),
            .init("linkPacketMicroseconds", RadioLimits.linkPacketMicroseconds),
            .init("configuredInterval", RadioLimits.configuredInterval, in: .intervals),
            .init("briskTime", RadioLimits.briskTime),
            .init("useReportInterval", RadioLimits.useReportInterval),
            .init("idleBytesToHost", RadioLimits.idleBytesToHost),
            .init("idleBytesFromHost", RadioLimits.idleBytesFromHost),
            .init("tunedSupervision", RadioLimits.tunedSupervision, in: .tensOfMilliseconds),
            .init("tuningDelay", RadioLimits.tuningDelay),
            .init("advicePatience", RadioLimits.advicePatience),
            .init("tuningPatience", RadioLimits.tuningPatience),
            .init("tuningAnswer", RadioLimits.tuningAnswer),
        ])

    static let lan = LimitTable(
        "LANLimits", "Sources/LANBearer/LANLimits.swift",
        [
            .init("silence", LANLimits.silence),
            .init("connect", LANLimits.connect),
            .init("nextAddress", LANLimits.nextAddress),
            .init("dialPause", LANLimits.dialPause),
            .init("framesPerSecond", LANLimits.framesPerSecond),
            .init("bufferBytes", LANLimits.bufferBytes),
            .init("readBytes", LANLimits.readBytes),
            .init("farewell", LANLimits.farewell),
            .init("accepted", LANLimits.accepted),
            .init("acceptedOfAddress", LANLimits.acceptedOfAddress),
            .init("callersPerSecond", LANLimits.callersPerSecond),
            .init("callerBurst", LANLimits.callerBurst),
            .init("backlog", LANLimits.backlog),
            .init("networksKnown", LANLimits.networksKnown),
            .init("services", LANLimits.services),
            .init("addresses", LANLimits.addresses),
            .init("doubt", LANLimits.doubt),
            .init("stringBytes", LANLimits.stringBytes),
            .init("names", LANLimits.names),
            .init("resolvers", LANLimits.resolvers),
            .init("directoryEvents", LANLimits.directoryEvents),
            .init("busPause", LANLimits.busPause),
        ])

    static let broker = LimitTable(
        "BrokerLimits", "Sources/BrokerBearer/BrokerLimits.swift",
        [
            .init("connect", BrokerLimits.connect),
            .init("leastPatience", BrokerLimits.leastPatience),
            .init("hurry", BrokerLimits.hurry),
            .init("servers", BrokerLimits.servers),
            .init("keepAlive", BrokerLimits.keepAlive),
            .init("sleep", BrokerLimits.sleep),
            .init("look", BrokerLimits.look),
            .init("firstPause", BrokerLimits.firstPause),
            .init("longestPause", BrokerLimits.longestPause),
            .init("settled", BrokerLimits.settled),
            .init("patience", BrokerLimits.patience),
            .init("underWay", BrokerLimits.underWay),
            .init("farewell", BrokerLimits.farewell),
            .init("events", BrokerLimits.events),
            .init("quiet", BrokerLimits.quiet),
            .init("echo", BrokerLimits.echo),
            .init("accepted", BrokerLimits.accepted),
            .init("acceptedOfAddress", BrokerLimits.acceptedOfAddress),
            .init("callsPerSecond", BrokerLimits.callsPerSecond),
            .init("callBurst", BrokerLimits.callBurst),
            .init("valueBytes", BrokerLimits.valueBytes),
            .init("valuesWaiting", BrokerLimits.valuesWaiting),
            .init("channelBytes", BrokerLimits.channelBytes),
            .init("answer", BrokerLimits.answer),
            .init("places", BrokerLimits.places),
            .init("advertisementBytes", BrokerLimits.advertisementBytes),
            .init("messageBytes", BrokerLimits.messageBytes),
            .init("prefixBytes", BrokerLimits.prefixBytes),
            .init("restoresPerSecond", BrokerLimits.restoresPerSecond),
            .init("restoreBurst", BrokerLimits.restoreBurst),
            .init("election", BrokerLimits.election),
            .init("retained", BrokerLimits.retained),
            .init("published", BrokerLimits.published),
            .init("billTold", BrokerLimits.billTold),
            .init("bill", BrokerLimits.bill),
        ])

    static let dashboard = LimitTable(
        "DashboardLimits", "Sources/Dashboard/DashboardLimits.swift",
        [
            .init("connections", DashboardLimits.connections),
            .init("connectionsPerAddress", DashboardLimits.connectionsPerAddress),
            .init("keptConnections", DashboardLimits.keptConnections),
            .init("backlog", DashboardLimits.backlog),
            .init("firstListenPause", DashboardLimits.firstListenPause),
            .init("longestListenPause", DashboardLimits.longestListenPause),
            .init("networkSettle", DashboardLimits.networkSettle),
            .init("requestTime", DashboardLimits.requestTime),
            .init("keptOpen", DashboardLimits.keptOpen),
            .init("answerTime", DashboardLimits.answerTime),
            .init("writeTime", DashboardLimits.writeTime),
            .init("sendBufferBytes", DashboardLimits.sendBufferBytes),
            .init("headerBytes", DashboardLimits.headerBytes),
            .init("headerFields", DashboardLimits.headerFields),
            .init("bodyBytes", DashboardLimits.bodyBytes),
            .init("swallowedBodyBytes", DashboardLimits.swallowedBodyBytes),
            .init("guestStreams", DashboardLimits.guestStreams),
            .init("streamsPerAddress", DashboardLimits.streamsPerAddress),
            .init("streamsPerGuest", DashboardLimits.streamsPerGuest),
            .init("driverStreams", DashboardLimits.driverStreams),
            .init("driverStreamsPerAddress", DashboardLimits.driverStreamsPerAddress),
            .init("viewPause", DashboardLimits.viewPause),
            .init("viewersPerPause", DashboardLimits.viewersPerPause),
            .init("ping", DashboardLimits.ping),
            .init("encodedViewLife", DashboardLimits.encodedViewLife),
            .init("tick", DashboardLimits.tick),
            .init("lastView", DashboardLimits.lastView),
            .init("commandsPerSecond", DashboardLimits.commandsPerSecond),
            .init("commandBurst", DashboardLimits.commandBurst),
            .init("joinsPerSecond", DashboardLimits.joinsPerSecond),
            .init("joinBurst", DashboardLimits.joinBurst),
            .init("rememberedRates", DashboardLimits.rememberedRates),
            .init("waitingInputs", DashboardLimits.waitingInputs),
            .init("waitingTaps", DashboardLimits.waitingTaps),
            .init("tapTime", DashboardLimits.tapTime),
            .init("searchTime", DashboardLimits.searchTime),
            .init("waitingSearches", DashboardLimits.waitingSearches),
            .init("searchBytes", DashboardLimits.searchBytes),
            .init("webGuests", DashboardLimits.webGuests),
            .init("webGuestShare", DashboardLimits.webGuestShare),
            .init("absence", DashboardLimits.absence),
            .init("sessionsPerGuest", DashboardLimits.sessionsPerGuest),
            .init("cookieSeconds", DashboardLimits.cookieSeconds),
            .init("pictureBytes", DashboardLimits.pictureBytes),
            .init("picturesAtOnce", DashboardLimits.picturesAtOnce),
            .init("driverPicturesAtOnce", DashboardLimits.driverPicturesAtOnce),
            .init("waitingPictures", DashboardLimits.waitingPictures),
            .init("pictureWait", DashboardLimits.pictureWait),
            .init("pictureChunkBytes", DashboardLimits.pictureChunkBytes),
            .init("pageSeconds", DashboardLimits.pageSeconds),
            .init("pictureSeconds", DashboardLimits.pictureSeconds),
            .init("invitationBytes", DashboardLimits.invitationBytes),
        ])

    static let artwork = LimitTable(
        "ArtworkLimits", "Sources/CoverArt/ArtworkLimits.swift", of: ArtworkLimits.standard)

    static let library = LimitTable(
        "LibraryLimits", "Sources/MusicLibrary/LibraryLimits.swift", of: LibraryLimits.standard)

    static let player = LimitTable(
        "PlayerLimits", "Sources/MusicPlayer/PlayerLimits.swift", of: PlayerLimits.standard,
        [
            .init("leastHeard", PlayerLimits.leastHeard)
        ])

    static let mediaKeys = LimitTable(
        "MediaKeysLimits", "Sources/HostIntegration/MediaKeys/MediaKeysLimits.swift", of: MediaKeysLimits.standard)

    static let terminal = LimitTable(
        "TerminalLimits", "Sources/TerminalUI/TerminalLimits.swift",
        [
            .init("shownSongs", TerminalLimits.shownSongs),
            .init("queuesPerSecond", TerminalLimits.queuesPerSecond),
            .init("queuesAtOnce", TerminalLimits.queuesAtOnce),
            .init("shownHops", TerminalLimits.shownHops),
            .init("standingNotices", TerminalLimits.standingNotices),
            .init("leastColumns", TerminalLimits.leastColumns),
            .init("leastBehindTitle", TerminalLimits.leastBehindTitle),
            .init("usualSize", TerminalLimits.usualSize),
            .init("quietLoss", TerminalLimits.quietLoss),
            .init("linesWithPicture", TerminalLimits.linesWithPicture),
            .init("tick", TerminalLimits.tick),
            .init("foregroundMicroseconds", TerminalLimits.foregroundMicroseconds),
            .init("listedCompletions", TerminalLimits.listedCompletions),
            .init("historyLines", TerminalLimits.historyLines),
            .init("dueConfirmations", TerminalLimits.dueConfirmations),
            .init("waitingLogLines", TerminalLimits.waitingLogLines),
        ])

    static let control = LimitTable(
        "ControlLimits", "Sources/TerminalUI/Control/ControlLimits.swift",
        [
            .init("requestBytes", ControlLimits.requestBytes),
            .init("answerBytes", ControlLimits.answerBytes),
            .init("clients", ControlLimits.clients),
            .init("requestTime", ControlLimits.requestTime),
            .init("answerTime", ControlLimits.answerTime),
            .init("clientTime", ControlLimits.clientTime),
            .init("keyBytes", ControlLimits.keyBytes),
        ])

    static let fieldTest = LimitTable(
        "FieldTestLimits", "Sources/FieldTest/FieldTestLimits.swift",
        [
            .init("writeInterval", FieldTestLimits.writeInterval),
            .init("tickInterval", FieldTestLimits.tickInterval),
            .init("waitingRows", FieldTestLimits.waitingRows),
            .init("originCharacters", FieldTestLimits.originCharacters),
            .init("plotPeers", FieldTestLimits.plotPeers),
            .init("wordCharacters", FieldTestLimits.wordCharacters),
            .init("positionInterval", FieldTestLimits.positionInterval),
            .init("positionRepeat", FieldTestLimits.positionRepeat),
            .init("gpsdLineBytes", FieldTestLimits.gpsdLineBytes),
            .init("gpsdRetry", FieldTestLimits.gpsdRetry),
            .init("gpsdPatience", FieldTestLimits.gpsdPatience),
            .init("withheldMetres", FieldTestLimits.withheldMetres),
            .init("withheldPositions", FieldTestLimits.withheldPositions),
            .init("gpxBytes", FieldTestLimits.gpxBytes),
            .init("gpxPoints", FieldTestLimits.gpxPoints),
            .init("trackEdge", FieldTestLimits.trackEdge),
            .init("trackHole", FieldTestLimits.trackHole),
            .init("explainedWishes", FieldTestLimits.explainedWishes),
            .init("timedMarks", FieldTestLimits.timedMarks),
            .init("driveBytes", FieldTestLimits.driveBytes),
            .init("longestDrive", FieldTestLimits.longestDrive),
            .init("linkLag", FieldTestLimits.linkLag),
            .init("slowLinkLag", FieldTestLimits.slowLinkLag),
            .init("comparedDrives", FieldTestLimits.comparedDrives),
            .init("plotPoints", FieldTestLimits.plotPoints),
            .init("shownGaps", FieldTestLimits.shownGaps),
            .init("replaySeeds", FieldTestLimits.replaySeeds),
            .init("backToBack", FieldTestLimits.backToBack),
            .init("batchBytes", FieldTestLimits.batchBytes),
            .init("messageBytes", FieldTestLimits.messageBytes),
            .init("batchRows", FieldTestLimits.batchRows),
            .init("fullBatchRows", FieldTestLimits.fullBatchRows),
            .init("uplinkPace", FieldTestLimits.uplinkPace),
            .init("uplinkInterval", FieldTestLimits.uplinkInterval),
            .init("uplinkPatience", FieldTestLimits.uplinkPatience),
            .init("uplinkQuiet", FieldTestLimits.uplinkQuiet),
            .init("uplinkLook", FieldTestLimits.uplinkLook),
            .init("uplinkFarewell", FieldTestLimits.uplinkFarewell),
            .init("announcedDrives", FieldTestLimits.announcedDrives),
            .init("withdrawnDrives", FieldTestLimits.withdrawnDrives),
            .init("collectedCars", FieldTestLimits.collectedCars),
            .init("collectedDrivesOfCar", FieldTestLimits.collectedDrivesOfCar),
            .init("collectedDrives", FieldTestLimits.collectedDrives),
            .init("collectedBytes", FieldTestLimits.collectedBytes),
            .init("collectTold", FieldTestLimits.collectTold),
            .init("slowestShown", FieldTestLimits.slowestShown),
            .init("fleetDrivesShown", FieldTestLimits.fleetDrivesShown),
            .init("fleetRows", FieldTestLimits.fleetRows),
        ])

    static let fix = LimitTable(
        "FixLimits", "Sources/Diagnostics/Fix/FixLimits.swift",
        [
            .init("fileBytes", FixLimits.fileBytes),
            .init("journalBytes", FixLimits.journalBytes),
            .init("journalEntries", FixLimits.journalEntries),
            .init("capabilityBytes", FixLimits.capabilityBytes),
            .init("outputBytes", FixLimits.outputBytes),
            .init("command", FixLimits.command),
            .init("question", FixLimits.question),
            .init("settling", FixLimits.settling),
            .init("settlingStep", FixLimits.settlingStep),
        ])

    static let pipe = LimitTable(
        "PipeLimits", "Sources/roadmesh/Pipe/PipeLimits.swift",
        [
            .init("chunk", PipeLimits.chunk, in: .bytes),
            .init("window", PipeLimits.window, in: .bytes),
            .init("socketWindow", PipeLimits.socketWindow, in: .bytes),
            .init("connections", PipeLimits.connections),
            .init("outgoing", PipeLimits.outgoing),
            .init("sessionBytes", PipeLimits.sessionBytes),
            .init("progressInterval", PipeLimits.progressInterval),
            .init("farewell", PipeLimits.farewell),
            .init("connect", PipeLimits.connect),
            .init("wait", PipeLimits.wait, in: .seconds),
            .init("longestWait", PipeLimits.longestWait, in: .seconds),
        ])

    static let ping = LimitTable(
        "PingLimits", "Sources/roadmesh/Ping/PingLimits.swift",
        [
            .init("shownPings", PingLimits.shownPings),
            .init("leastInterval", PingLimits.leastInterval, in: .seconds),
            .init("longestInterval", PingLimits.longestInterval, in: .seconds),
            .init("traceCount", PingLimits.traceCount),
            .init("traceInterval", PingLimits.traceInterval, in: .seconds),
            .init("wait", PingLimits.wait, in: .seconds),
        ])
}
