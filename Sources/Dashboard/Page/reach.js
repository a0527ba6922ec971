// SPDX-License-Identifier: Apache-2.0

import { limits } from "/limits.js";

/**
 * Decides when to connect to the node, and when to show that it is out of reach. Each method takes an event and returns
 * the actions: "connect", "close". The caller supplies the clock and the random number: `now` is in milliseconds,
 * `jitter` is 0 to 1.
 */
export class Reach {
    /** "idle", "connecting", "open", "waiting" for the next attempt, or "refused". */
    phase = "idle";
    /** When `ticked` is due, or null. */
    deadline = null;
    /** When the connection was lost, or null. */
    lostAt = null;
    /** How many connections in a row delivered only an ended session. */
    endings = 0;
    #failures = 0;

    /** Connects immediately, in any phase. */
    tried(now) {
        this.phase = "connecting";
        this.deadline = now + limits.connecting;
        return ["close", "connect"];
    }

    /** The node has sent something. */
    heard(now) {
        this.phase = "open";
        this.deadline = now + limits.silence;
        this.lostAt = null;
        this.#failures = 0;
        return [];
    }

    /** The node refuses this page. The next attempt needs an action of the person. */
    refused() {
        this.phase = "refused";
        this.deadline = null;
        this.lostAt = null;
        this.endings = 0;
        this.#failures = 0;
        return [];
    }

    /**
     * The connection broke or failed. `isOver` means that it delivered only an ended session. The node is then in
     * reach, and another connection would deliver the same.
     */
    broke(now, jitter, isOver = false) {
        this.lostAt = isOver ? null : this.lostAt ?? now;
        this.endings = isOver ? this.endings + 1 : 0;
        // The received data has reset the number of failures, so it is set again.
        if (isOver) this.#failures = this.endings - 1;
        const pause = Math.min(limits.longestPause, limits.shortestPause * 2 ** this.#failures);
        this.#failures = Math.min(this.#failures + 1, 16);
        this.phase = "waiting";
        // Jitter keeps a car full of phones from reconnecting at the same time.
        this.deadline = now + Math.max(limits.shortestPause, pause * (1 - jitter / 4));
        return ["close"];
    }

    /** Handles the passage of time. */
    ticked(now, jitter) {
        if (this.deadline === null || now < this.deadline) return [];
        return this.phase === "waiting" ? this.tried(now) : this.broke(now, jitter);
    }

    /** Whether to show that the node is out of reach, and whether to offer "Retry". */
    trouble(now) {
        const gone = this.lostAt === null ? -1 : now - this.lostAt;
        return { isTold: gone >= limits.unnoticed, offersRetry: gone >= limits.retryOffered };
    }
}
