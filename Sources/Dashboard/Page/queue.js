// SPDX-License-Identifier: Apache-2.0

import { button, cover, setButton, songWords, wishLine } from "/controls.js";
import { foreign, KeyedList, make, setAttribute, setClass, setShown, setText } from "/dom.js";
import { icon } from "/icons.js";
import { clock, counted, cut, nameOf, shown, titleOf } from "/text.js";

/** What plays next, and the wishes about songs that are not there yet. */
export class Queue {
    #songs = make("ol", "songs");
    #wishes = make("ul", "songs");
    #wishesHeading = make("h3", "label", {}, "Your suggestions");
    #stale = make("p", "label", {}, icon("clock"), make("span", "", {}, "Last known queue"));
    #empty = make("p", "hint");

    constructor(panel, node, isHost) {
        this.isHost = isHost;
        panel.append(this.#stale, this.#wishesHeading, this.#wishes, this.#songs, this.#empty);
        this.songs = new KeyedList(this.#songs, (item) => item.id, () => songRow(node, isHost));
        this.wishes = new KeyedList(this.#wishes, (wish) => wish.songID, () => wishRow(node));
    }

    update(view, isStale, isOver) {
        setShown(this.#stale, isStale && view.queue.length);
        // Who has added what nobody asked for is the host, and needs no mention.
        const hostID = this.isHost ? view.me.id : view.host?.id;
        this.songs.update(view.queue.map((item) => ({ ...item, isAsked: item.addedBy && item.addedBy !== hostID })));
        this.wishes.update(view.wishes);
        setShown(this.#wishesHeading, view.wishes.length);
        setShown(this.#wishes, view.wishes.length);
        setShown(this.#songs, view.queue.length);
        setShown(this.#empty, !view.queue.length && !view.wishes.length);
        setText(this.#empty, isOver ? "The queue was empty." : this.#emptyWords(view));
    }

    #emptyWords(view) {
        if (this.isHost) return "The queue is empty. Add songs, or let guests suggest some.";
        return view.host ? "The queue is empty. Search for a song and suggest it." : "Join a host to see its queue.";
    }
}

function songRow(node, isHost) {
    const art = cover("small");
    const words = songWords("p");
    const place = make("span", "place", { "aria-hidden": "true" });
    const wish = wishLine();
    const asker = foreign();
    const asked = make("p", "asked", {}, asker, " asked");
    const votes = make("p", "votes", {}, make("b"), make("span"));
    const row = { item: null };
    // A tap is for what the button shows, which is the row's item: tapped again before that is seen, a vote stays.
    const control = isHost
        ? button("quiet", "bin", "", () => node.command("remove", { songID: row.item.id }), "remove")
        : button("vote waits", "vote", "", () => node.wish(isWanted(row.item) ? "takeBack" : "vote", row.item), "vote");
    const text = make("div", "song-words", {}, words.titleLine, words.artistLine, asked, wish.element);
    const element = make("li", "song", {}, place, art.element, text, ...(isHost ? [votes] : []), control);
    row.element = element;
    row.update = (item, index) => {
        row.item = item;
        setText(place, String(index + 1));
        art.update(item);
        words.update(item, { artist: shown(item.artist, ""), length: item.duration ? clock(item.duration) : "" });
        setText(asker, item.isAsked ? nameOf({ name: item.addedByName }) : "");
        setShown(asked, item.isAsked);
        wish.update(item.wish);
        if (isHost) showVotes(votes, control, item);
        else showVoteButton(control, item);
    };
    return row;
}

/** Whether a guest's vote is for a song, as it wants it: with what is on its way. */
function isWanted(item) {
    const { wish } = item;
    if (!wish || wish.state === "rejected" || wish.state === "confirmed") return item.mine;
    return wish.kind !== "takeBack";
}

const voterNames = (item) => item.voters.slice(0, 12).map((voter) => cut(nameOf(voter), 40)).join(", ");

function showVotes(votes, control, item) {
    setText(votes.firstChild, String(item.votes));
    setText(votes.lastChild, item.votes === 1 ? " vote" : " votes");
    setAttribute(votes, "title", item.votes ? `Voted for by ${voterNames(item)}` : null);
    setClass(votes, "none", !item.votes);
    setButton(control, "bin", "", `Remove ${titleOf(item)}`);
}

function showVoteButton(control, item) {
    const wanted = Boolean(isWanted(item));
    const underWay = { queued: "clock", sent: "sent" }[item.wish?.state];
    const label = `Vote for ${titleOf(item)}, ${counted(item.votes, "vote")}`;
    setButton(control, underWay ?? (wanted ? "check" : "vote"), String(item.votes), label);
    setAttribute(control, "aria-pressed", String(wanted));
    setClass(control, "under-way", Boolean(underWay));
    setAttribute(control, "title", item.votes ? `Voted for by ${voterNames(item)}` : "Vote");
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
        setButton(again, "plus", "", `Suggest ${titleOf(song)} again`);
        setShown(again, item.state === "rejected" && item.kind === "suggest");
    };
    return row;
}
