// SPDX-License-Identifier: Apache-2.0

import { t } from "/language.js";
import { limits } from "/limits.js";

// Puts songs of the library where the driver wants them: now, next, or at the end of the queue.

/** The commands, each `{command, songID}`, that place songs in their order. `view` is the host's. */
export function placing(songs, where, view) {
    const present = new Set([view.nowPlaying?.id, ...view.queue.map((item) => item.id)]);
    const command = (command) => (song) => ({ command, songID: song.id });
    if (where === "last") return songs.filter((song) => !present.has(song.id)).map(command("add"));
    // The last song comes first, because each song is inserted at the front.
    const front = songs.filter((song) => song.id !== view.nowPlaying?.id).reverse().map(command("playNext"));
    if (where === "next") return front;
    const start = view.nowPlaying ? [{ command: "skip" }] : [];
    const isPlaying = view.nowPlaying && view.isPlaying;
    return songs[0]?.id === view.nowPlaying?.id ? front : [...front, ...start, ...(isPlaying ? [] : [{ command: "play" }])];
}

/** Sends them one after the other. Returns whether all succeeded. */
export async function place(node, songs, where, view) {
    for (const { command, ...fields } of placing(songs, where, view)) {
        // If commands came faster than the node accepts them, it would refuse the rest of a long album.
        if (songs.length > limits.burst) await new Promise((done) => setTimeout(done, limits.command));
        if (!(await node.command(command, fields))) return false;
    }
    return true;
}

/** The driver's choices, as arguments for `openMenu`. */
export const places = (act) => [
    [t`Play now`, () => act("now")], [t`Play next`, () => act("next")], [t`Add to the end`, () => act("last")],
];
