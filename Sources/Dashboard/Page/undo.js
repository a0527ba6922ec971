// SPDX-License-Identifier: Apache-2.0

import { t } from "/language.js";
import { limits } from "/limits.js";
import { shown } from "/text.js";

/** Decides when the driver is offered to undo what was done last: once, for as long as it is in mind. */
export class Undo {
    #known;
    #offer = null;
    #made = 0;
    #isUndoing = false;

    /** A view has come, in which `undo` is `{kind, title or name}`, or null. */
    take(undo) {
        const key = JSON.stringify(undo ?? null);
        if (key === this.#known) return;
        // What was done before the page was opened, or before what was just undone, is not in mind.
        const isNews = this.#known !== undefined && undo && !this.#isUndoing;
        this.#known = key;
        this.#isUndoing = false;
        this.#offer = null;
        if (!isNews) return;
        this.#made += 1;
        this.#offer = {
            id: `undo ${this.#made}`, code: "undo", kind: "toast", critical: false, message: doneText(undo),
            suggestion: null, button: t`Undo`, dismissAfter: limits.undo,
        };
    }

    /** It was tapped. */
    tapped() {
        this.#isUndoing = true;
        this.#offer = null;
    }

    /** What there is to tell. */
    get notices() {
        return this.#offer ? [this.#offer] : [];
    }
}

function doneText({ kind, title, name }) {
    if (kind === "kick" || kind === "ban") return t`${shown(name, t`somebody`)} was sent away.`;
    if (kind === "clear") return t`The queue was cleared.`;
    if (kind === "move") return t`“${shown(title, t`(untitled)`)}” has a new place.`;
    return t`“${shown(title, t`(untitled)`)}” was removed.`;
}
