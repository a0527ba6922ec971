// SPDX-License-Identifier: Apache-2.0

import { limits } from "/limits.js";

// A guest's taps that the node has not accepted yet. A tap is {command, songID, title, isTried}. The functions do not
// change a list; they return a new one.

const opposite = { vote: "takeBack", takeBack: "vote" };

/** The list with one more tap. Null if it is full. A tap and its opposite cancel each other. */
export function adding(taps, tap) {
    if (taps.some((one) => isSame(one, tap))) return taps;
    const undone = taps.find((one) => one.songID === tap.songID && one.command === opposite[tap.command]);
    const others = undone ? without(taps, undone) : taps;
    // If the tap may have reached the node already, the opposite tap must be sent too.
    if (undone && !undone.isTried) return others;
    return others.length < limits.keptTaps ? [...others, tap] : null;
}

/** The list without a tap. */
export const without = (taps, tap) => taps.filter((one) => !isSame(one, tap));

/** The list with a tap marked as sent, whether or not it has arrived. */
export const tried = (taps, tap) => taps.map((one) => (isSame(one, tap) ? { ...one, isTried: true } : one));

const isSame = (one, other) => one.songID === other.songID && one.command === other.command;

/** Only valid taps: the list comes from the browser's storage. */
export function checked(taps) {
    if (!Array.isArray(taps)) return [];
    const known = (tap) => ["vote", "takeBack", "suggest"].includes(tap?.command) && typeof tap.songID === "string";
    return taps.filter(known).slice(0, limits.keptTaps);
}

/** A view that shows these taps as queued wishes. */
export function withKept(view, taps) {
    if (!taps.length) return view;
    const wishes = new Map(taps.map((tap) => [tap.songID, { kind: tap.command, state: "queued", sentence: null }]));
    const marked = (item) => (item && wishes.has(item.id) ? { ...item, wish: wishes.get(item.id) } : item);
    const present = new Set([view.nowPlaying?.id, ...view.queue.map((item) => item.id)]);
    const absent = taps.filter((tap) => !present.has(tap.songID));
    const shownAlready = view.wishes.filter((wish) => !absent.some((tap) => tap.songID === wish.songID));
    const added = absent.map((tap) => ({ songID: tap.songID, title: tap.title ?? null, ...wishes.get(tap.songID) }));
    return {
        ...view, nowPlaying: marked(view.nowPlaying), queue: view.queue.map(marked),
        wishes: [...shownAlready, ...added],
    };
}
