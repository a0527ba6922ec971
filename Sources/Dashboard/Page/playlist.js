// SPDX-License-Identifier: Apache-2.0

import { button, setButton } from "/controls.js";
import { setShown } from "/dom.js";
import { t } from "/language.js";
import { openMenu } from "/menu.js";
import { shown } from "/text.js";

/** The name of a playlist: its file name without folder and extension. */
export const playlistName = (path) => shown(path.split("/").at(-1).replace(/\.[a-z0-9]+$/i, ""), path);

/** Chooses the playlist that plays while the queue is empty. */
export class PlaylistButton {
    #library = null;
    element;

    constructor(node) {
        const choose = (playlist) => () => node.command("playlist", { playlist });
        this.element = button("plain", "queue", "", () => {
            const lists = this.#library.playlists.map((path) => [playlistName(path), choose(path)]);
            openMenu(t`Songs while the queue is empty`, "", [[t`All songs`, choose("")], ...lists]);
        }, "playlist");
    }

    update(library) {
        this.#library = library;
        setShown(this.element, library.playlists?.length);
        const name = library.playlist ? playlistName(library.playlist) : t`All songs`;
        setButton(this.element, "queue", t`While the queue is empty: ${name}`);
    }
}
