// SPDX-License-Identifier: Apache-2.0

// Keys of the page: space pauses and plays, "/" opens the search.

const typing = "input, textarea, select, [contenteditable]";

/** Handles the keys. `toggle()` pauses or plays, and `search()` opens the search. */
export function followKeys({ toggle, search }) {
    addEventListener("keydown", (event) => {
        const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.repeat && !event.defaultPrevented;
        if (!isPlain || event.target.closest(typing) || document.querySelector("dialog[open]")) return;
        // If a button has the focus, the space bar presses the button.
        if (event.key === " " && !event.target.closest("button, a, summary") && toggle()) event.preventDefault();
        if (event.key === "/" && search()) event.preventDefault();
    });
}
