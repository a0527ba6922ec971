// SPDX-License-Identifier: Apache-2.0

import { titles } from "/commands.js";
import { button, cover, setButton, songWords, wishLine } from "/controls.js";
import { KeyedList, make, setAttribute, setShown, setText } from "/dom.js";
import { icon } from "/icons.js";
import { plural, t } from "/language.js";
import { limits } from "/limits.js";
import { clock, shown, titleOf } from "/text.js";

/** Looks for songs of the host's library, and asks for them. */
export class Search {
    #input = make("input", "waits", {
        type: "search", id: "words", name: "q", maxlength: limits.search, autocomplete: "off", autocapitalize: "off",
        spellcheck: "false", enterkeyhint: "search", placeholder: t`Title or artist`,
    });
    #state = make("p", "hint", { role: "status" });
    #found = make("ul", "songs");
    #library = make(
        "div", "library", { hidden: true }, make("p"), make("progress", "", { "aria-label": t`Songs scanned` }));
    #songs = [];
    #view = null;
    #timer = null;
    #abort = null;
    /** The words that are searched for have no answer yet. */
    #isOpen = false;

    constructor(panel, node, isHost) {
        Object.assign(this, { node, isHost });
        const label = make("label", "unseen", { for: "words" }, t`Search for songs`);
        const submit = make("button", "waits", { type: "submit", "aria-label": t`Search` }, icon("search"));
        const form = make("form", "search", { role: "search" }, label, this.#input, submit);
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            this.#look();
        });
        this.#input.addEventListener("input", () => {
            clearTimeout(this.#timer);
            this.#timer = setTimeout(() => this.#look(), limits.typing);
        });
        panel.append(form, this.#state, this.#found, this.#library);
        this.found = new KeyedList(this.#found, (song) => song.id, () => foundRow(node, isHost));
        this.#say(isHost ? t`Search your music and add songs.` : t`Search the car's music.`);
    }

    update(view) {
        this.#view = view;
        this.#show();
        this.#showLibrary(view.library);
    }

    /** There is a connection again: what had none is searched for now. */
    again() {
        if (this.#isOpen) this.#look();
    }

    focus() {
        this.#input.focus();
    }

    async #look() {
        clearTimeout(this.#timer);
        this.#abort?.abort();
        const words = this.#input.value.trim();
        this.#isOpen = words !== "";
        if (!words) return this.#answer([], "");
        const abort = new AbortController();
        this.#abort = abort;
        this.#say(t`Searching…`);
        const { songs, message } = await this.node.search(words, abort.signal);
        if (abort.signal.aborted) return;
        this.#isOpen = message !== "";
        const none = t`Nothing found for “${shown(words, "")}”.`;
        this.#answer(songs, message || (songs.length ? plural(songs.length, "{1} song found.", "{1} songs found.") : none));
    }

    #answer(songs, words) {
        this.#songs = songs;
        this.#say(words);
        this.#show();
    }

    #say(words) {
        setText(this.#state, words);
    }

    #show() {
        const { nowPlaying = null, queue = [], wishes = [] } = this.#view ?? {};
        const items = new Map([...queue, nowPlaying].map((item) => [item?.id, item]));
        const wished = new Map(wishes.map((wish) => [wish.songID, wish]));
        this.found.update(this.#songs.map((song) => {
            const item = items.get(song.id);
            const isPlaying = nowPlaying?.id === song.id;
            return { ...song, item, isPlaying, wish: wished.get(song.id) ?? item?.wish };
        }));
    }

    #showLibrary(library) {
        const [words, progress] = this.#library.children;
        setShown(this.#library, library);
        if (!library) return;
        const isScanning = typeof library.toScan === "number";
        const songs = isScanning
            ? plural(library.songs, "{1} song in the library so far.", "{1} songs in the library so far.")
            : plural(library.songs, "{1} song in the library.", "{1} songs in the library.");
        setText(words, isScanning ? `${songs} ${t`${library.scanned ?? 0} of ${library.toScan} files read.`}` : songs);
        setShown(progress, isScanning);
        if (!isScanning) return;
        setAttribute(progress, "max", String(Math.max(1, library.toScan)));
        setAttribute(progress, "value", String(library.scanned ?? 0));
    }
}

function foundRow(node, isHost) {
    const art = cover("small");
    const words = songWords("p");
    const wish = wishLine();
    const row = { song: null };
    const word = t(isHost ? titles.host.add : titles.guest.suggest);
    const add = button(isHost ? "word-button" : "word-button waits", "plus", word, () => {
        const { song } = row;
        if (add.getAttribute("aria-disabled")) return;
        if (isHost) node.command("add", { songID: song.id });
        else if (song.item) node.wish("vote", song);
        else node.wish("suggest", song);
    }, "add");
    const place = make("p", "wish", { "data-state": "confirmed", hidden: true }, icon("check"), t`In the queue`);
    const text = make("div", "song-words", {}, words.titleLine, words.artistLine, wish.element, place);
    row.element = make("li", "song", {}, art.element, text, add);
    row.update = (song) => {
        row.song = song;
        art.update(song);
        words.update(song, { artist: shown(song.artist, ""), length: song.duration ? clock(song.duration) : "" });
        wish.update(song.wish);
        setShown(place, !isHost && song.item && !song.wish && !song.isPlaying);
        const done = doneWord(song, isHost);
        const isVote = !isHost && song.item;
        const title = titleOf(song);
        const label = isVote ? t`Vote for ${title}` : isHost ? t`Add ${title}` : t`Suggest ${title}`;
        const next = isVote ? ["vote", t`Vote`] : ["plus", word];
        setButton(add, ...(done ? ["check", done, `${label}: ${done}`] : [...next, label]));
        // Not taken away: a person who has just tapped it keeps the focus.
        setAttribute(add, "aria-disabled", done ? "true" : null);
    };
    return row;
}

/** Why a song cannot be asked for again; null where it can. */
function doneWord(song, isHost) {
    if (song.isPlaying) return t`Playing`;
    if (isHost) return song.item ? t`Added` : null;
    if (song.wish?.state === "queued" || song.wish?.state === "sent") return t`Asked`;
    return song.item?.mine ? t`Voted` : null;
}
