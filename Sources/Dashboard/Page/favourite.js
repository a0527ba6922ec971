// SPDX-License-Identifier: Apache-2.0

import { limits } from "/limits.js";

/** The song of a queue that most people want, the first of those; null where nobody has voted. */
export function liked(queue) {
    const best = queue.reduce((best, item) => (item.votes > (best?.votes ?? 0) ? item : best), null);
    return best;
}

/**
 * Decides which song the driver is offered. It does not change under a finger: one stays for a while, also after a touch, and
 * where it has gone from the queue the place is empty for a moment. `now` is in milliseconds.
 */
export class Favourite {
    #songID = null;
    #since = -Infinity;
    #touchedAt = -Infinity;

    /** Somebody has touched the screen. */
    touched(now) {
        this.#touchedAt = now;
    }

    /** The song that is offered now, or null. */
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
