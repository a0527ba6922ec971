// SPDX-License-Identifier: Apache-2.0

import { told } from "/language.js";
import { limits } from "/limits.js";
import { Reach } from "/reach.js";

/** Parses the lines of a text/event-stream. */
export class EventParser {
    #rest = "";
    #event = "";
    #data = [];
    #held = 0;

    /** The messages that this piece completes: `{event, data}`. Throws if a message exceeds `limits.message`. */
    read(piece) {
        const messages = [];
        const lines = (this.#rest + piece).split("\n");
        this.#rest = lines.pop();
        for (const line of lines) this.#take(line.replace(/\r$/, ""), messages);
        if (this.#rest.length + this.#held > limits.message) throw new RangeError("A message without end.");
        return messages;
    }

    #take(line, messages) {
        if (line === "") {
            if (this.#data.length) messages.push({ event: this.#event || "message", data: this.#data.join("\n") });
            [this.#event, this.#data, this.#held] = ["", [], 0];
        } else if (line.startsWith("event:")) {
            this.#event = line.slice(6).trimStart();
        } else if (line.startsWith("data:")) {
            this.#data.push(line.slice(5).trimStart());
            this.#held += line.length;
        }
    }
}

/**
 * The live stream of views. It uses `fetch`, because an EventSource can distinguish neither a ping from silence nor a
 * refusal from an unreachable node.
 */
export class Stream {
    #reach = new Reach();
    #abort = null;
    #timer = null;
    #on;

    /**
     * `on` has `view(view, isFirst)`, where `isFirst` marks the first view of a connection, `refused({message,
     * reason})`, `sentAway()` for a passenger who was kicked or banned, and `changed()` when the state of the stream
     * changes.
     */
    constructor(on) {
        this.#on = on;
        document.addEventListener("visibilitychange", () => {
            // A phone that slept has received nothing for an unknown time, so it connects at once.
            if (document.visibilityState === "visible" && this.#reach.phase === "waiting") this.retry();
        });
        window.addEventListener("online", () => this.#reach.phase === "waiting" && this.retry());
    }

    /** Whether views arrive. */
    get isOpen() {
        return this.#reach.phase === "open";
    }

    /** Whether to show that no views arrive, and whether to offer "Retry". */
    get trouble() {
        return this.#reach.trouble(Date.now());
    }

    /** Connects now. */
    retry() {
        this.#carryOut(this.#reach.tried(Date.now()));
    }

    /** Stays disconnected until `retry`. */
    stop() {
        this.#abort?.abort();
        this.#carryOut(this.#reach.refused());
    }

    #carryOut(actions) {
        for (const action of actions) {
            if (action === "close") this.#abort?.abort();
            if (action === "connect") this.#connect();
        }
        clearTimeout(this.#timer);
        const { deadline } = this.#reach;
        if (deadline !== null) {
            const pause = Math.max(0, deadline - Date.now());
            this.#timer = setTimeout(() => this.#carryOut(this.#reach.ticked(Date.now(), Math.random())), pause);
        }
        this.#on.changed();
    }

    async #connect() {
        const abort = new AbortController();
        this.#abort = abort;
        const told = { newest: null, goesOn: false };
        try {
            const headers = { Accept: "text/event-stream" };
            const answer = await fetch("/events", { headers, cache: "no-store", signal: abort.signal });
            if (answer.status === 401 || answer.status === 403) return await this.#refuse(answer, abort);
            if (answer.ok) await this.#read(answer.body, abort, told);
        } catch {
            // All causes of a failure are handled in the same way.
        }
        if (this.#abort !== abort || abort.signal.aborted) return;
        const isOver = told.newest !== null && !told.goesOn;
        this.#carryOut(this.#reach.broke(Date.now(), Math.random(), isOver));
        if (this.#reach.endings < limits.endings || !isSentAway(told.newest)) return;
        this.stop();
        this.#on.sentAway();
    }

    async #refuse(answer, abort) {
        const refusal = await refusalOf(answer);
        if (abort.signal.aborted) return;
        this.#carryOut(this.#reach.refused());
        this.#on.refused(refusal);
    }

    /** Reads to the end. `told` receives the newest view, and whether any view was of a running session. */
    async #read(body, abort, told) {
        const reader = body.pipeThrough(new TextDecoderStream()).getReader();
        const parser = new EventParser();
        let isFirst = true;
        for (;;) {
            const { done, value } = await reader.read();
            if (done || abort.signal.aborted) return;
            this.#carryOut(this.#reach.heard(Date.now()));
            const views = parser.read(value).filter((message) => message.event === "view");
            // Each view is complete, so only the newest counts.
            if (!views.length) continue;
            told.newest = JSON.parse(views.at(-1).data);
            told.goesOn ||= !told.newest.ended;
            this.#on.view(told.newest, isFirst);
            isFirst = false;
        }
    }
}

/**
 * Whether the newest view is the last view of a passenger that the driver has removed. A stopping node sends the same
 * view, but afterwards no further connection succeeds. The rule does not apply to a guest's own node, which is
 * restarted instead.
 */
const isSentAway = (view) =>
    view?.role === "webGuest" && view.connection === "disconnected" && Boolean(view.ended);

/** Why the node refuses: `{message, reason}`, a sentence or an empty text, and a code for the page. */
export async function refusalOf(answer) {
    try {
        const { message, messageText, reason } = await answer.json();
        return { message: typeof message === "string" ? told(message, messageText) : "", reason };
    } catch {
        return { message: "" };
    }
}

/** The sentence of a refusal. */
export const messageOf = async (answer) => (await refusalOf(answer)).message;
