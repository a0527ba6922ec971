// SPDX-License-Identifier: Apache-2.0

import { limits } from "/limits.js";
import { keep, kept } from "/storage.js";

// The names of people, including those who have left. A restarted host does not know a person's name until the person
// is back.

const known = new Map(Array.isArray(kept("names")) ? kept("names").filter((pair) => pair?.length === 2) : []);

/** Stores the names in a view. */
export function learnNames({ guests, queue, nowPlaying }) {
    const people = [...guests];
    for (const item of [...queue, nowPlaying].filter(Boolean)) {
        people.push({ id: item.addedBy, name: item.addedByName }, ...item.voters);
    }
    let isNew = false;
    for (const { id, name } of people) {
        if (!name || known.get(id) === name) continue;
        known.delete(id);
        known.set(id, name);
        isNew = true;
    }
    if (!isNew) return;
    for (const id of [...known.keys()].slice(0, Math.max(0, known.size - limits.names))) known.delete(id);
    keep("names", [...known]);
}

/** The stored name of a person, or null. */
export const learntName = (id) => known.get(id) ?? null;
