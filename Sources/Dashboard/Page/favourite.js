// SPDX-License-Identifier: Apache-2.0

import { limits } from "/limits.js";

/** The song of a queue with the most votes; if votes are equal, the first. Null without votes. */
export function liked(queue) {
    const best = queue.reduce((best, item) => (item.votes > (best?.votes ?? 0) ? item : best), null);
    return best;
}

/**
 * Decides which song to offer to the driver. The offer must not change under a finger, so a song stays for some
 * seconds, and again after each touch. If the song leaves the queue, the offer is empty for the same time. `now` is in
 * milliseconds.
 */
export class Favourite {
    #songID = null;
    #since = -Infinity;
    #touchedAt = -Infinity;

    /** A person has touched the screen. */
    touched(now) {
        this.#touchedAt = now;
    }

    /** The song to offer now, or null. */
    take(queue, now) {
        const best = liked(queue);
        const offered = queue.find((item) => item.id === this.#songID) ?? null;
        if (this.#songID !== null && !offered) this.#offer(null, now);
        const pause = this.#songID === null ? limits.settling : limits.steady;
        const mayChange = now - this.#since >= pause && now - this.#touchedAt >= limits.settling;
        if (mayChange && best && best.id !== this.#songID && !(offered && offered.votes === best.votes)) {
            this.#offer(best.id, now);
        }
        return queue.find((item) => item.id === this.#songID) ?? null;
    }

    #offer(songID, now) {
        this.#songID = songID;
        this.#since = now;
    }
}
