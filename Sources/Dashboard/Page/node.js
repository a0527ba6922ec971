// SPDX-License-Identifier: Apache-2.0

import { t } from "/language.js";
import { limits } from "/limits.js";
import { adding, checked, tried, without } from "/outbox.js";
import { keep, kept } from "/storage.js";
import { messageOf } from "/stream.js";

const sentences = {
    403: t`You cannot do that here.`,
    429: t`Too many taps at once. Wait a moment, then try again.`,
};

/**
 * Requests to the node that serves this page: commands, searches, and a guest's taps, which are queued until the node
 * accepts them.
 */
export class PageNode {
    #on;
    #isSending = false;
    #landing = [];

    /** `on` has `say(message, suggestion)`, `changed()`, `announce(text)`, `left()` and `isOpen()`. */
    constructor(on) {
        this.#on = on;
        this.announce = on.announce;
        this.say = on.say;
    }

    /** Taps that no view shows yet. All tabs of this browser share the queue. */
    get taps() {
        const now = performance.now();
        this.#landing = this.#landing.filter((tap) => now - tap.landedAt < limits.landing);
        return [...this.#landing, ...checked(kept("taps"))];
    }

    /** Removes accepted taps, because a view has arrived, which contains all taps that the node has accepted. */
    landed() {
        this.#landing = [];
    }

    /** Sends a command that is not queued: it succeeds now or fails. */
    async command(command, fields = {}) {
        try {
            const answer = await post({ command, ...fields });
            if (answer.ok) return true;
            this.#on.say(await said(answer, t`That did not work. Try again in a moment.`));
        } catch {
            this.#on.say(t`No connection, so nothing was done.`, t`Try again when the connection is back.`);
        }
        return false;
    }

    /** Ends the session or leaves it. */
    async leave(isHost) {
        if (await this.command(isHost ? "end" : "leave")) this.#on.left();
    }

    /** Queues a guest's vote or suggestion until the node accepts it. */
    wish(command, song) {
        const taps = adding(checked(kept("taps")), { command, songID: song.id, title: song.title });
        if (!taps) {
            this.#on.say(t`Too many votes are waiting already.`, t`Vote again when the connection is back.`);
            return;
        }
        this.#keep(taps);
        this.flush();
    }

    /** Posts the queued taps, oldest first. */
    async flush() {
        if (this.#isSending) return;
        this.#isSending = true;
        try {
            for (let tap = checked(kept("taps"))[0]; tap && this.#on.isOpen(); tap = checked(kept("taps"))[0]) {
                if (!(await this.#send(tap))) break;
            }
        } finally {
            this.#isSending = false;
        }
    }

    /**
     * Searches the host's library for all of these words, or opens a shelf: `{songs, groups, total, lookedFor,
     * message}`. `from` is the number of results that are shown already.
     */
    async search({ words = "", shelf = "words", from = 0 }, signal) {
        const none = { songs: [], groups: [], total: 0, lookedFor: null };
        const fields = new URLSearchParams({ q: words, ...(shelf === "words" ? {} : { shelf }), ...(from ? { from } : {}) });
        try {
            const answer = await fetch(`/api/search?${fields}`, { signal });
            if (!answer.ok) return { ...none, message: await messageOf(answer) || t`The host does not answer.` };
            const found = await answer.json();
            return { ...none, total: found.songs.length, ...found, message: "" };
        } catch {
            return { ...none, message: t`No connection. Your search continues when it is back.` };
        }
    }

    async #send(tap) {
        keep("taps", tried(checked(kept("taps")), tap));
        try {
            const answer = await post({ command: tap.command, songID: tap.songID });
            if (answer.status === 429 || answer.status >= 500) {
                setTimeout(() => this.flush(), limits.tooOften);
                return false;
            }
            // If the node does not know this browser, the taps stay queued until it has joined again.
            if (answer.status === 401) return false;
            if (answer.ok) this.#landing.push({ ...tap, landedAt: performance.now() });
            else this.#on.say(await said(answer, t`Your vote was not accepted. Try again in a moment.`));
            this.#keep(without(checked(kept("taps")), tap));
            return true;
        } catch {
            return false;
        }
    }

    #keep(taps) {
        keep("taps", taps.length ? taps : null);
        this.#on.changed();
    }
}

const said = async (answer, otherwise) => await messageOf(answer) || sentences[answer.status] || otherwise;

const post = (body) => fetch("/api/command", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
    signal: AbortSignal.timeout(limits.connecting),
});
