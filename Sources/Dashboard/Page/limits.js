// SPDX-License-Identifier: Apache-2.0

/** Limits of the page, each with its reason. Times are in milliseconds. */
export const limits = {
    /** Nothing from the node for this long: it pings every 5 s, so two pings are missing. */
    silence: 12_000,
    /** An answer takes no longer than this where there is one to come: the node is in the same car. */
    connecting: 8_000,
    /** First and longest pause between attempts to connect: a restarted node is found within five seconds, the connection
     * and what it shows included, and one that is gone costs little battery. */
    shortestPause: 500,
    longestPause: 3_000,
    /** Connections in a row that tell nothing but the end, after which a passenger counts as sent away: they take more
     * than a second, and a node that stops has closed its door by then. */
    endings: 3,
    /** How long the node is out of reach before anything is said: a new connection takes less. */
    unnoticed: 1_000,
    /** How long the node is out of reach before a tap is offered. Most gaps are over by then. */
    retryOffered: 10_000,
    /** Longest message of the live stream, in characters: a full queue in which every guest voted for every song. */
    message: 8 << 20,
    /** Taps that are kept while the node is out of reach: more than anybody makes in a tunnel, and one view to post. */
    keptTaps: 64,
    /** How long a tap that the node has taken is shown as such, where no view follows that tells more. */
    landing: 2_000,
    /** Pause before the node is asked again that was asked too often. */
    tooOften: 1_000,
    /** How long "Really?" stands: time to read what follows and tap again, but no stray tap meets it. */
    question: 8_000,
    /** Pixels between a question and its button. */
    beside: 8,
    /** A second tap that comes sooner than this was no answer but a finger that bounced. */
    bounce: 350,
    /** How long a message of the page's own is shown, in seconds: two short sentences can be read. */
    passingNotice: 5,
    /** The same of what a person may do from now on: four short sentences. */
    news: 12,
    /** Banners and toasts at a time: what leaves the queue in view on 600 pixels of height. */
    banners: 2,
    toasts: 3,
    /** Messages of the page's own that wait to be shown. */
    ownToasts: 4,
    /** Pause in typing after which a search is sent: each goes over the air, and a word is typed in less. */
    typing: 450,
    /** Characters of a search: what the host takes. */
    search: 128,
    /** Characters of a text that are shown, and of one that is shown on pointing at it: two lines are less. */
    text: 300,
    hint: 500,
    /** Characters of a sentence: twice as many as any of ours has, with a path in it. */
    sentence: 600,
    /** Characters of a name. */
    name: 40,
    /** Digits of a PIN. */
    pin: 6,
    /** Digits of an identifier that are shown: those that a scan shows. */
    head: 8,
    /** Levels of relays that are drawn beside one another: a phone has no room for more. What is farther stands below the
     * last of these, with how far it is. */
    treeDepth: 4,
    /** How often progress is counted: each second is seen to change. */
    tick: 500,
    /** Time between two drawings: views may come more often than anybody reads, and a phone's battery is to last. */
    drawing: 100,
    /** How long a finger on the screen keeps songs from changing places under it. */
    hold: 1_500,
    /** The same while a song is dragged: nobody drags for longer, and a pointer that is lost lets go. */
    longestDrag: 30_000,
    /** How far a finger moves, in pixels, before it drags: one that taps moves less. */
    dragging: 8,
    /** How close to its edge, in pixels, a finger scrolls the list on, and by how much in each frame. */
    edge: 56,
    scrollStep: 8,
    /** How long after a song has changed places its bin takes no tap: a finger that was under way has landed by then. */
    settling: 800,
    /** How long "Undo" is offered, in seconds: to see that it was the wrong song, and to reach the button. */
    undo: 8,
    /** Pause between two settings of the volume while its slider moves: five commands a second are the node's limit. */
    volume: 300,
    /** How long a tapped button of the driving view is marked: Google's guidelines for cars want an answer in 250 ms. */
    response: 250,
    /** Characters of title and artist in the driving view: what those guidelines allow. */
    glance: 120,
    /** Steps of the volume there, in percent: ten taps from silence to full. */
    volumeStep: 10,
    /** From and to this hour the driving view has its night colours, where the system does not say: it is dark for most of the year. */
    nightFrom: 20,
    nightTo: 7,
    /** How long a driver is offered the same song: to see it, and to reach it without looking. */
    steady: 5_000,
    /** How long a button of the driving view shows that it has failed. */
    failed: 1_500,
    /** Names of people that are remembered: several coaches. */
    names: 200,
    /** Names that a list of voters has at most. */
    voters: 60,
    /** Commands in a row that the node takes at once, and the pause between those of a longer row, in milliseconds. */
    burst: 16,
    command: 220,
    /** Songs of an album or artist that are queued with one tap: a long album, and a third of the queue. */
    group: 60,
    /** Songs of the last view that are kept: ten screens. */
    keptSongs: 100,
    /** Pause between two views that are kept: storage is slow, and this is what a tunnel may cost. */
    keeping: 5_000,
    /** How old a kept view may be: what played longer ago than a day's drive is of no use. */
    oldest: 12 * 3_600_000,
};
