// SPDX-License-Identifier: Apache-2.0

/** Limits of the page, each with its reason. Times are in milliseconds. */
export const limits = {
    /** Silence after which the connection counts as lost: the node pings every 5 s, so two pings are missing. */
    silence: 12_000,
    /** The time to wait for an answer. The node is in the same car. */
    connecting: 8_000,
    /**
     * The first and the longest pause between attempts to connect. A restarted node is found and shown within five
     * seconds, and attempts to reach a missing node cost little battery.
     */
    shortestPause: 500,
    longestPause: 3_000,
    /**
     * After this many connections in a row that deliver only an ended session, a passenger counts as removed. The
     * attempts take more than a second, and a stopping node closes its server in less time.
     */
    endings: 3,
    /** How long the node is out of reach before the page shows it. A new connection takes less time. */
    unnoticed: 1_000,
    /** How long the node is out of reach before the page offers "Retry". Most gaps are shorter. */
    retryOffered: 10_000,
    /**
     * The longest message of the live stream, in characters: a full queue in which every guest voted for every song.
     */
    message: 8 << 20,
    /** Taps that are queued while the node is out of reach: more than a person makes in a tunnel, and quick to post. */
    keptTaps: 64,
    /** How long an accepted tap is shown as sent while no newer view arrives. */
    landing: 2_000,
    /** The pause after the node has refused a request as too frequent. */
    tooOften: 1_000,
    /**
     * How long "Really?" is shown: time to read the consequence and tap again, but short enough that a later stray tap
     * has no effect.
     */
    question: 8_000,
    /** Pixels between a question and its button. */
    beside: 8,
    /** A second tap within this time is a bounce of the finger, not an answer. */
    bounce: 350,
    /** How long a message of the page is shown, in seconds: time to read two short sentences. */
    passingNotice: 5,
    /** How long a message about new rights of a person is shown, in seconds: time to read four short sentences. */
    news: 12,
    /**
     * Banners and toasts that are shown at the same time. They leave the queue visible on a screen of 600 pixels
     * height.
     */
    banners: 2,
    toasts: 3,
    /** Messages of the page that wait to be shown. */
    ownToasts: 4,
    /**
     * The pause in typing after which a search is sent. Each search uses the air, and the keys of a word follow each
     * other faster than this.
     */
    typing: 450,
    /** Characters of a search: the host's limit. */
    search: 128,
    /** Characters of a shown text, and of a tooltip. Two lines have fewer. */
    text: 300,
    hint: 500,
    /** Characters of a sentence: twice the length of the longest sentence, which contains a path. */
    sentence: 600,
    /** Characters of a name. */
    name: 40,
    /** Digits of a PIN. */
    pin: 6,
    /** Shown digits of an identifier, as many as in the output of a scan. */
    head: 8,
    /**
     * Levels of relays that are drawn next to each other: a phone has no room for more. Guests that are farther away
     * are drawn below the last level, with their distance.
     */
    treeDepth: 4,
    /** The interval of progress updates, short enough to show each second. */
    tick: 500,
    /** Time between two drawings. Views may come faster than people read, and drawing drains a phone's battery. */
    drawing: 100,
    /** How long a finger on the screen keeps songs in their places. */
    hold: 1_500,
    /**
     * How long a dragged song keeps the others in place. No drag takes longer, and a hold ends even if the pointer's
     * events are lost.
     */
    longestDrag: 30_000,
    /** How far a finger must move, in pixels, before it drags. A tap moves less. */
    dragging: 8,
    /** The distance to the edge, in pixels, at which a drag scrolls the list, and the step per frame. */
    edge: 56,
    scrollStep: 8,
    /**
     * How long a bin ignores taps after its song has moved. A finger that was moving towards the bin lands within this
     * time.
     */
    settling: 800,
    /** How long "Undo" is offered, in seconds: time to notice the wrong song and to reach the button. */
    undo: 8,
    /** The pause between two volume commands while the slider moves: the node accepts five commands a second. */
    volume: 300,
    /**
     * How long a tapped button of the driving view is marked. Google's guidelines for cars require an answer within 250
     * ms.
     */
    response: 250,
    /** Characters of title and artist in the driving view, from the same guidelines. */
    glance: 120,
    /** The volume step of the driving view, in percent: ten taps from silence to full. */
    volumeStep: 10,
    /**
     * The hours in which the driving view uses night colours if the system has no preference: it is dark then for most
     * of the year.
     */
    nightFrom: 20,
    nightTo: 7,
    /** How long a driver is offered the same song: time to see it and to reach it without looking. */
    steady: 5_000,
    /** How long a button of the driving view shows a failure. */
    failed: 1_500,
    /** Names of people that are remembered: several buses full. */
    names: 200,
    /** The most names in a list of voters. */
    voters: 60,
    /**
     * Commands that the page sends in a burst, and the pause between commands after more than a burst, in milliseconds.
     */
    burst: 16,
    command: 220,
    /** Songs of an album or artist that one tap adds: a long album, and a third of the queue. */
    group: 60,
    /** Songs of the last view that are saved: ten screens. */
    keptSongs: 100,
    /**
     * The pause between two saved views. Storage is slow, and the saved view may be older than the last view by this
     * much.
     */
    keeping: 5_000,
    /** How old a saved view may be. A view from before a day's drive is useless. */
    oldest: 12 * 3_600_000,
};
