// SPDX-License-Identifier: Apache-2.0

import { limits } from "/limits.js";
import { keep, kept } from "/storage.js";

// The last view, for a page that is loaded while its node is out of reach.

/** What of a view is worth keeping: what was on view, without what there was to tell or to open. */
export function worthKeeping(view) {
    const short = (item) => item && { ...item, voters: [], wish: null };
    return {
        ...view, nowPlaying: short(view.nowPlaying), queue: view.queue.slice(0, limits.keptSongs).map(short),
        wishes: [], notices: [], hosts: [], invitation: null, library: null, undo: null, isStale: true, isPlaying: false,
    };
}

/** The view that was kept at most `limits.oldest` before `now` (milliseconds since 1970); else null. */
export function checkedView(found, now) {
    const view = found?.view;
    const isView = ["host", "guest", "webGuest"].includes(view?.role) && typeof view.me?.id === "string"
        && ["queue", "guests", "wishes", "notices", "hosts"].every((list) => Array.isArray(view[list]));
    return isView && now - found.at >= 0 && now - found.at < limits.oldest ? view : null;
}

/** Keeps views, not each of many. */
export class LastView {
    #waiting = null;
    #writtenAt = -Infinity;

    constructor() {
        for (const event of ["pagehide", "visibilitychange"]) addEventListener(event, () => this.#write());
    }

    /** A view has come. The one of a node that has stopped has the same queue, and is kept without its end. */
    take(view) {
        this.#waiting = { ...view, ended: null };
        if (performance.now() - this.#writtenAt >= limits.keeping) this.#write();
    }

    /** Who is not let in any more has nothing to see. */
    forget() {
        this.#waiting = null;
        keep("view", null);
    }

    /** What was kept, or null. */
    read() {
        return checkedView(kept("view"), Date.now());
    }

    #write() {
        if (!this.#waiting) return;
        keep("view", { at: Date.now(), view: worthKeeping(this.#waiting) });
        this.#waiting = null;
        this.#writtenAt = performance.now();
    }
}
