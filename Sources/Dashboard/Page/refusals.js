// SPDX-License-Identifier: Apache-2.0

import { told } from "/language.js";

/**
 * Shows a refused suggestion only once, at its song. The node also sends a notice with the remedy. While the notice is
 * active, its sentences replace the text at the song, and the notice is not shown as a toast.
 */
export class Refusals {
    /** The shown sentences, by song. */
    #told = new Map();

    /** `announce` reads a sentence to a person who does not see it. */
    constructor(announce) {
        this.announce = announce;
    }

    /** The view without the notices that are shown at songs. */
    atSongs(view) {
        const items = [view.nowPlaying, ...view.queue].filter((item) => item?.wish);
        const marks = [...items.map((item) => ({ ...item.wish, songID: item.id })), ...view.wishes];
        const refused = marks.filter((mark) => mark.kind === "suggest" && mark.state === "rejected");
        for (const songID of this.#told.keys()) {
            if (!refused.some((mark) => mark.songID === songID)) this.#told.delete(songID);
        }
        // If several were refused for one reason, the notice is about the newest.
        const mark = (notice) => refused.findLast((one) => one.reason === notice.code);
        for (const notice of view.notices) this.#tell(mark(notice)?.songID, notice);
        if (!this.#told.size) return view;
        const told = (wish, songID) => (this.#told.has(songID) ? { ...wish, sentence: this.#told.get(songID), sentenceText: null } : wish);
        const shown = (item) => item && { ...item, wish: told(item.wish, item.id) };
        return {
            ...view, nowPlaying: shown(view.nowPlaying), queue: view.queue.map(shown),
            wishes: view.wishes.map((wish) => told(wish, wish.songID)),
            notices: view.notices.filter((one) => !mark(one)),
        };
    }

    #tell(songID, notice) {
        const parts = [told(notice.message, notice.messageText), told(notice.suggestion, notice.suggestionText)];
        const sentence = parts.filter(Boolean).join(" ");
        if (!songID || this.#told.get(songID) === sentence) return;
        this.#told.set(songID, sentence);
        this.announce(sentence);
    }
}
