// SPDX-License-Identifier: Apache-2.0

import { limits } from "/limits.js";
import { Reach } from "/reach.js";

/** Reads the lines of a text/event-stream. */
export class EventParser {
    #rest = "";
    #event = "";
    #data = [];
    #held = 0;

    /** The messages that are complete with this piece: `{event, data}`. Throws where one has no end. */
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
 * The live stream of views. It is read with `fetch`, since an EventSource tells neither a ping from silence nor a
 * refusal from a box that is gone.
 */
export class Stream {
    #reach = new Reach();
    #abort = null;
    #timer = null;
    #on;

    /** `on` has `view(view)`, `refused(status, message)` and `changed()`, for whoever shows the state of the stream. */
    constructor(on) {
        this.#on = on;
        document.addEventListener("visibilitychange", () => {
            // A phone that slept has heard nothing, and does not know for how long.
            if (document.visibilityState === "visible" && this.#reach.phase === "waiting") this.retry();
        });
        window.addEventListener("online", () => this.#reach.phase === "waiting" && this.retry());
    }

    /** Whether views come in. */
    get isOpen() {
        return this.#reach.phase === "open";
    }

    /** Whether a person is told that they do not, and whether a tap is offered. */
    get trouble() {
        return this.#reach.trouble(Date.now());
    }

    /** Connects now. */
    retry() {
        this.#carryOut(this.#reach.tried(Date.now()));
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
        try {
            const headers = { Accept: "text/event-stream" };
            const answer = await fetch("/events", { headers, cache: "no-store", signal: abort.signal });
            if (answer.status === 401 || answer.status === 403) return await this.#refuse(answer, abort);
            if (answer.ok) await this.#read(answer.body, abort);
        } catch {
            // What broke it makes no difference to what is done about it.
        }
        if (this.#abort === abort && !abort.signal.aborted) {
            this.#carryOut(this.#reach.broke(Date.now(), Math.random()));
        }
    }

    async #refuse(answer, abort) {
        const message = await messageOf(answer);
        if (abort.signal.aborted) return;
        this.#carryOut(this.#reach.refused());
        this.#on.refused(answer.status, message);
    }

    async #read(body, abort) {
        const reader = body.pipeThrough(new TextDecoderStream()).getReader();
        const parser = new EventParser();
        for (;;) {
            const { done, value } = await reader.read();
            if (done || abort.signal.aborted) return;
            this.#carryOut(this.#reach.heard(Date.now()));
            const views = parser.read(value).filter((message) => message.event === "view");
            // Each view is whole, so that only the newest counts.
            if (views.length) this.#on.view(JSON.parse(views.at(-1).data));
        }
    }
}

/** The sentence in an answer of the box, or nothing. */
export async function messageOf(answer) {
    try {
        const { message } = await answer.json();
        return typeof message === "string" ? message : "";
    } catch {
        return "";
    }
}
