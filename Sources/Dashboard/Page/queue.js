// SPDX-License-Identifier: Apache-2.0

import { tellOnTap } from "/about.js";
import { button, cover, setButton, songWords, wishLine } from "/controls.js";
import { KeyedList, make, setAttribute, setClass, setShown, setText } from "/dom.js";
import { askedLine, binOf, hostRow, pinnedLine } from "/hostrow.js";
import { icon } from "/icons.js";
import { t } from "/language.js";
import { limits } from "/limits.js";
import { Reorder } from "/reorder.js";
import { clock, shown, titleOf, voterNames, votesOf } from "/text.js";

/** The list with one song moved to another place. */
export function withMoved(queue, songID, position) {
    const others = queue.filter((item) => item.id !== songID);
    return [...others.slice(0, position), ...queue.filter((item) => item.id === songID), ...others.slice(position)];
}

/** The queue, and the wishes for songs that are not in it yet. */
export class Queue {
    #songs = make("ol", "songs");
    #wishes = make("ul", "songs");
    #wishesHeading = make("h3", "label", {}, t`Your suggestions`);
    #stale = make("p", "label", {}, icon("clock"), make("span", "", {}, t`Last known queue`));
    #empty = make("p", "hint");
    #clear = null;
    #shown = null;
    /** Where the driver has dropped a song, until the node confirms it. */
    #moved = null;

    constructor(panel, node, isHost) {
        this.isHost = isHost;
        panel.append(this.#stale, this.#wishesHeading, this.#wishes, this.#songs, this.#empty);
        const reorder = new Reorder(this.#songs, node.announce, (...move) => this.#move(node, ...move));
        const row = isHost ? () => hostRow(node, reorder) : () => guestRow(node, reorder);
        this.songs = new KeyedList(this.#songs, (item) => item.id, row);
        this.wishes = new KeyedList(this.#wishes, (wish) => wish.songID, () => wishRow(node));
        setClass(this.#songs, "voted", !isHost);
        if (!isHost) return;
        this.#clear = button("quiet clear", "bin", t`Clear the queue`, () => node.command("clear"), "clear");
        panel.append(this.#clear);
    }

    update(view, isStale, isOver) {
        this.#shown = { view, isStale, isOver };
        setShown(this.#stale, isStale && view.queue.length);
        // The host's own songs need no name.
        const hostID = this.isHost ? view.me.id : view.host?.id;
        const queue = this.#ordered(view.queue);
        this.songs.update(queue.map((item) => ({ ...item, hostID, isAsked: item.addedBy && item.addedBy !== hostID })));
        this.wishes.update(view.wishes);
        setShown(this.#wishesHeading, view.wishes.length);
        setShown(this.#wishes, view.wishes.length);
        setShown(this.#songs, view.queue.length);
        setShown(this.#empty, !view.queue.length && !view.wishes.length);
        setText(this.#empty, isOver ? t`The queue was empty.` : this.#emptyWords(view));
        // A node that does not support undo does not support these commands either.
        setClass(this.#songs, "fixed", this.isHost ? view.undo === undefined : !view.steers);
        if (this.#clear) setShown(this.#clear, view.queue.length > 1 && view.undo !== undefined);
    }

    async #move(node, songID, position) {
        if (songID !== null) this.#moved = { songID, position, until: performance.now() + limits.landing };
        this.#draw();
        if (songID === null) return;
        if (!(await node.command("move", { songID, position }))) this.#moved = null;
        setTimeout(() => this.#draw(), limits.landing);
        this.#draw();
    }

    #draw() {
        if (this.#shown) this.update(this.#shown.view, this.#shown.isStale, this.#shown.isOver);
    }

    #ordered(queue) {
        if (!this.#moved) return queue;
        const { songID, position, until } = this.#moved;
        const index = queue.findIndex((item) => item.id === songID);
        if (index >= 0 && index !== position && performance.now() < until) return withMoved(queue, songID, position);
        this.#moved = null;
        return queue;
    }

    #emptyWords(view) {
        if (this.isHost) return t`The queue is empty. Add songs, or let guests suggest some.`;
        return view.host ? t`The queue is empty. Search for a song and suggest it.` : t`Join a host to see its queue.`;
    }
}

/** A song of the queue on a guest's page. A guest votes for it; a co-host can also drag and remove it. */
function guestRow(node, reorder) {
    const art = cover("small");
    const words = songWords("p");
    const place = make("span", "place", { "aria-hidden": "true" });
    const wish = wishLine();
    const [asked, pinned] = [askedLine(), pinnedLine()];
    const row = { item: null, index: null };
    const bin = binOf(node, row);
    const grip = reorder.grip(row);
    // A tap acts on the item that the button shows. So a second tap before the next drawing does not take back the
    // vote.
    const vote = button("vote waits", "vote", "", () => {
        node.wish(isWanted(row.item) ? "takeBack" : "vote", row.item);
    }, "vote");
    const text = make("div", "song-words", {}, words.titleLine, words.artistLine, asked.element, pinned.element, wish.element);
    tellOnTap(text, () => ({ item: row.item, hostID: row.item.hostID }));
    row.element = make("li", "song", {}, grip, place, art.element, text, vote, bin.element);
    row.update = (item, index) => {
        bin.update(item, index);
        Object.assign(row, { item, index });
        reorder.update(row);
        setText(place, String(index + 1));
        art.update(item);
        words.update(item, { artist: shown(item.artist, ""), length: item.duration ? clock(item.duration) : "" });
        asked.update(item);
        pinned.update(item);
        wish.update(item.wish);
        showVoteButton(vote, item);
    };
    return row;
}

/** Whether the guest wants a song, including votes that are queued or sent. */
function isWanted(item) {
    const { wish } = item;
    if (!wish || wish.state === "rejected" || wish.state === "confirmed") return item.mine;
    return wish.kind !== "takeBack";
}

function showVoteButton(control, item) {
    const wanted = Boolean(isWanted(item));
    const underWay = { queued: "clock", sent: "sent" }[item.wish?.state];
    const label = t`Vote for ${titleOf(item)}, ${votesOf(item.votes)}`;
    const hint = item.votes ? t`Voted for by ${voterNames(item)}` : t`Vote`;
    setButton(control, underWay ?? (wanted ? "check" : "vote"), String(item.votes), label, hint);
    setAttribute(control, "aria-pressed", String(wanted));
    setClass(control, "under-way", Boolean(underWay));
}

function wishRow(node) {
    const art = cover("small");
    const words = songWords("p");
    const wish = wishLine();
    const text = make("div", "song-words", {}, words.titleLine, wish.element);
    const row = { wish: null, element: null };
    const again = button("quiet waits", "plus", "", () => {
        node.wish("suggest", { id: row.wish.songID, title: row.wish.title });
    }, "again");
    row.element = make("li", "song", {}, art.element, text, again);
    row.update = (item) => {
        row.wish = item;
        const song = { title: item.title ?? "", artist: "", art: null };
        art.update(song);
        words.update(song, { artist: "" });
        wish.update(item);
        setButton(again, "plus", "", t`Suggest ${titleOf(song)} again`);
        setShown(again, item.state === "rejected" && item.kind === "suggest");
    };
    return row;
}
