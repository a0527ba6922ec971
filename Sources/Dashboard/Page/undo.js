// SPDX-License-Identifier: Apache-2.0

import { t } from "/language.js";
import { limits } from "/limits.js";
import { shown } from "/text.js";

/** Decides when to offer the driver an undo of the last step: once per step, for `limits.undo` seconds. */
export class Undo {
    /** The newest step in any view. Undefined before the first view. */
    #last;
    #offered = null;
    #offer = null;

    /** A view has arrived. Its `undo` is `{kind, title or name, step}` or null. Steps are numbered from 1. */
    take(undo) {
        const step = undo?.step ?? 0;
        if (step === this.#offered) return;
        // Two kinds of steps are not offered: steps from before the page was opened, and steps that are the newest
        // again after an undo.
        const isNew = this.#last !== undefined && step > this.#last;
        this.#last = Math.max(this.#last ?? 0, step);
        this.#offered = isNew ? step : null;
        this.#offer = null;
        if (!isNew) return;
        this.#offer = {
            id: `undo ${step}`, code: "undo", kind: "toast", critical: false, message: doneText(undo),
            suggestion: null, button: t`Undo`, dismissAfter: limits.undo,
        };
    }

    /** The button was tapped. */
    tapped() {
        this.#offer = null;
    }

    /** The notice with the offer, if there is one. */
    get notices() {
        return this.#offer ? [this.#offer] : [];
    }
}

function doneText({ kind, title, name }) {
    if (kind === "kick") return t`${shown(name, t`Somebody`)} was kicked.`;
    if (kind === "ban") return t`${shown(name, t`Somebody`)} was banned.`;
    if (kind === "clear") return t`The queue was cleared.`;
    if (kind === "move") return t`“${shown(title, t`(untitled)`)}” has a new place.`;
    return t`“${shown(title, t`(untitled)`)}” was removed.`;
}
