// SPDX-License-Identifier: Apache-2.0

import { limits } from "/limits.js";
import { keep, kept } from "/storage.js";

// The last view, for a page that is loaded while its node is out of reach.

/** The parts of a view worth saving: what was shown, without notices and invitations. */
export function worthKeeping(view) {
    const short = (item) => item && { ...item, voters: [], wish: null };
    return {
        ...view, nowPlaying: short(view.nowPlaying), queue: view.queue.slice(0, limits.keptSongs).map(short),
        wishes: [], notices: [], hosts: [], invitation: null, library: null, undo: null, isStale: true, isPlaying: false,
    };
}

/** The saved view, if it is at most `limits.oldest` older than `now` (milliseconds since 1970). Else null. */
export function checkedView(found, now) {
    const view = found?.view;
    const isView = ["host", "guest", "webGuest"].includes(view?.role) && typeof view.me?.id === "string"
        && ["queue", "guests", "wishes", "notices", "hosts"].every((list) => Array.isArray(view[list]));
    return isView && now - found.at >= 0 && now - found.at < limits.oldest ? view : null;
}

/** Saves views, at most one per `limits.keeping`. */
export class LastView {
    #waiting = null;
    #writtenAt = -Infinity;

    constructor() {
        for (const event of ["pagehide", "visibilitychange"]) addEventListener(event, () => this.#write());
    }

    /**
     * A view has arrived. A node that stops keeps its queue, so its last view is saved as if the session had not ended.
     */
    take(view) {
        this.#waiting = { ...view, ended: null };
        if (performance.now() - this.#writtenAt >= limits.keeping) this.#write();
    }

    /** Deletes the saved view, because a refused guest must not see it. */
    forget() {
        this.#waiting = null;
        keep("view", null);
    }

    /** The saved view, or null. */
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
