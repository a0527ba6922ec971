// SPDX-License-Identifier: Apache-2.0

import { button } from "/controls.js";
import { make } from "/dom.js";
import { t } from "/language.js";

/**
 * Copies a text. Returns whether this succeeded. A page over plain HTTP has no clipboard API, but can copy a selection.
 */
export async function copied(text) {
    if (navigator.clipboard && isSecureContext) {
        try {
            await navigator.clipboard.writeText(text);
            return true;
        } catch {
            // The browser has refused. The selection below may still work.
        }
    }
    const area = make("textarea", "unseen", { "aria-hidden": "true", readonly: true });
    area.value = text;
    const focused = document.activeElement;
    // While a dialog is open, no element outside it can have the focus.
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    focused?.focus?.({ preventScroll: true });
    return isDone;
}

/** Buttons that copy and share the result of `text()`. A browser that cannot share gets no share button. */
export function copyButtons(node, text) {
    const copy = button("plain", "copy", t`Copy`, async () => {
        if (await copied(text())) node.say(t`Copied.`);
        else node.say(t`This browser cannot copy. Hold the text with a finger, and copy it.`);
    }, "copy");
    if (!navigator.share) return [copy];
    const share = button("plain", "share", t`Share`, async () => {
        const what = text();
        try {
            await navigator.share(/^https?:/.test(what) ? { title: "RoadMesh", url: what } : { title: "RoadMesh", text: what });
        } catch {
            // A person who closes the list of apps also causes this error.
        }
    }, "share");
    return [copy, share];
}
