// SPDX-License-Identifier: Apache-2.0

import { cover } from "/controls.js";
import { foreign, make, setAttribute, setText } from "/dom.js";
import { plural, t } from "/language.js";
import { shown } from "/text.js";

// The shelves of a library, shown before a person types.

const words = { artists: t`Artists`, albums: t`Albums`, newest: t`Newest`, heard: t`Played` };

/** The shelf above an open artist or album. */
export const shelfAbove = { artist: "artists", album: "albums" };

/** A button for each shelf. */
export class Shelves {
    #buttons = new Map();

    constructor(open) {
        const buttons = Object.entries(words).map(([shelf, word]) => {
            const button = make("button", "shelf", { type: "button", "data-control": shelf }, word);
            button.addEventListener("click", () => open(shelf));
            this.#buttons.set(shelf, button);
            return button;
        });
        this.element = make("div", "shelves", { role: "group", "aria-label": t`Browse` }, ...buttons);
    }

    /** Marks the selected shelf. */
    show(shelf) {
        const open = shelfAbove[shelf] ?? shelf;
        for (const [one, button] of this.#buttons) setAttribute(button, "aria-pressed", String(one === open));
    }
}

function emptyText(shelf) {
    if (shelf === "heard") return t`Nothing was played before.`;
    if (shelf === "artists") return t`There are no artists.`;
    return shelf === "albums" ? t`There are no albums.` : t`There are no songs.`;
}

/** The text about a shelf. */
export function shelfText({ shelf, title }, total) {
    if (!total) return emptyText(shelf);
    if (shelf === "artists") return plural(total, "{1} artist.", "{1} artists.");
    if (shelf === "albums") return plural(total, "{1} album.", "{1} albums.");
    if (shelf === "newest") return t`The newest songs first.`;
    if (shelf === "heard") return t`Played songs, the last one first.`;
    return `${title}: ${plural(total, "{1} song.", "{1} songs.")}`;
}

/** An artist or an album, which a tap opens. */
export function groupRow(open) {
    const art = cover("small");
    const name = foreign("title");
    const details = make("span", "artist");
    const row = { group: null };
    const text = make("span", "song-words", {}, name, details);
    const button = make("button", "group", { type: "button", "data-control": "open" }, art.element, text);
    button.addEventListener("click", () => open(row.group));
    row.element = make("li", "song", {}, button);
    row.update = (group) => {
        row.group = group;
        const title = shown(group.name, t`(untitled)`);
        art.update({ title, artist: group.artist, art: group.art });
        setText(name, title);
        const count = plural(group.songs, "{1} song", "{1} songs");
        // Among songs, the row also says whether it is an artist or an album.
        const kind = { artist: t`Artist`, album: t`Album` }[group.shelf];
        setText(details, [kind, shown(group.artist, ""), count].filter(Boolean).join(" · "));
    };
    return row;
}
