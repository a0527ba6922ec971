// SPDX-License-Identifier: Apache-2.0

import { titles } from "/commands.js";
import { button, cover, setButton, songWords, wishLine } from "/controls.js";
import { KeyedList, make, setAttribute, setShown, setText } from "/dom.js";
import { icon } from "/icons.js";
import { plural, t } from "/language.js";
import { limits } from "/limits.js";
import { openMenu } from "/menu.js";
import { PlaylistButton } from "/playlist.js";
import { place, places } from "/placing.js";
import { groupRow, shelfAbove, shelfText, Shelves } from "/shelves.js";
import { clock, shown, titleOf } from "/text.js";

/** Searches the host's library by words or on its shelves, and suggests or adds songs. */
export class Search {
    #input = make("input", "waits", {
        type: "search", id: "words", name: "q", maxlength: limits.search, autocomplete: "off", autocapitalize: "off",
        spellcheck: "false", enterkeyhint: "search", placeholder: t`Title or artist`,
    });
    #state = make("p", "hint", { role: "status" });
    #found = make("ul", "songs");
    #groups = make("ul", "songs");
    #more = make("button", "quiet more", { type: "button", hidden: true, "data-control": "more" }, t`Show more`);
    #library = make(
        "div", "library", { hidden: true }, make("p"), make("progress", "", { "aria-label": t`Songs scanned` }));
    #songs = [];
    #opened = [];
    #view = null;
    #timer = null;
    #abort = null;
    #query = { shelf: "words", words: "" };
    /** The query that was shown when an artist or album was opened. */
    #before = null;
    /** The number of all results of the shown query. */
    #total = 0;
    /** Whether the query has no answer yet. */
    #isOpen = false;

    constructor(panel, node, isHost) {
        Object.assign(this, { node, isHost });
        const label = make("label", "unseen", { for: "words" }, t`Search for songs`);
        const submit = make(
            "button", "waits", { type: "submit", "aria-label": t`Search`, title: t`Search` }, icon("search"));
        const form = make("form", "search", { role: "search" }, label, this.#input, submit);
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            this.#lookForWords();
        });
        this.#input.addEventListener("input", () => {
            clearTimeout(this.#timer);
            this.#timer = setTimeout(() => this.#lookForWords(), limits.typing);
        });
        this.shelves = new Shelves((shelf) => this.#open({ shelf, words: "" }));
        this.#more.addEventListener("click", () => this.#look(this.#songs.length || this.#opened.length));
        this.back = button("plain", "back", t`Back`, () => this.#goBack(), "back");
        this.all = button("plain", "play", t`Play all`, () => this.#playAll(), "playAll");
        this.opened = make("div", "opened", { hidden: true }, this.back, ...(isHost ? [this.all] : []));
        this.playlist = isHost ? new PlaylistButton(node) : null;
        if (this.playlist) this.#library.append(this.playlist.element);
        panel.append(form, this.shelves.element, this.opened, this.#state, this.#groups, this.#found, this.#more, this.#library);
        this.found = new KeyedList(this.#found, (song) => song.id, () => foundRow(node, isHost, () => this.#view));
        this.groups = new KeyedList(this.#groups, (group) => `${group.shelf} ${group.id}`, () => groupRow((group) => this.#openGroup(group)));
        this.#say(isHost ? t`Search your music and add songs.` : t`Search the car's music.`);
    }

    update(view) {
        this.#view = view;
        this.#show();
        this.#showLibrary(view.library);
    }

    /** The connection is back: repeats a query that failed without one. */
    again() {
        if (this.#isOpen) this.#look();
    }

    focus() {
        this.#input.focus();
    }

    #lookForWords() {
        this.#query = { shelf: "words", words: this.#input.value.trim() };
        return this.#look();
    }

    #open(query) {
        this.#input.value = "";
        this.#query = query;
        return this.#look();
    }

    /** Returns to the list in which the artist or album was found. */
    #goBack() {
        const before = this.#before ?? { shelf: shelfAbove[this.#query.shelf], words: "" };
        this.#input.value = before.shelf === "words" ? before.words : "";
        this.#query = before;
        return this.#look();
    }

    #playAll() {
        const { title } = this.#query;
        openMenu(title, "", places(async (where) => {
            const songs = await this.#wholeGroup();
            if (!songs.length || !(await place(this.node, songs, where, this.#view))) return;
            this.node.say(plural(songs.length, "{1} song of “{2}” is queued.", "{1} songs of “{2}” are queued.", title));
        }));
    }

    /** All songs of the artist or album, including those that are not shown yet. */
    async #wholeGroup() {
        const query = this.#query;
        const songs = [...this.#songs];
        while (songs.length < Math.min(this.#total, limits.group)) {
            const found = await this.node.search({ ...query, from: songs.length });
            if (!found.songs.length) break;
            songs.push(...found.songs);
        }
        return songs.slice(0, limits.group);
    }

    #openGroup(group) {
        this.#before = this.#query;
        const shelf = group.shelf ?? (this.#query.shelf === "albums" ? "album" : "artist");
        return this.#open({ shelf, words: group.id, title: shown(group.name, t`(untitled)`) });
    }

    /** `from` is the number of results that are shown already. */
    async #look(from = 0) {
        clearTimeout(this.#timer);
        this.#abort?.abort();
        const query = this.#query;
        this.shelves.show(query.shelf);
        this.#isOpen = query.shelf !== "words" || query.words !== "";
        if (!this.#isOpen) return this.#answer({ songs: [], groups: [], artists: [], albums: [], total: 0 }, 0, "");
        const abort = new AbortController();
        this.#abort = abort;
        if (!from) this.#say(t`Searching…`);
        const found = await this.node.search({ ...query, from }, abort.signal);
        if (abort.signal.aborted) return;
        this.#isOpen = found.message !== "";
        this.#answer(found, from, found.message || foundText(query, found));
    }

    #answer(found, from, words) {
        // If loading more results failed, the shown ones stay.
        if (!from || !this.#isOpen) {
            this.#total = found.total;
            this.#songs = [...(from ? this.#songs : []), ...found.songs];
            this.#opened = [...(from ? this.#opened : []), ...groupsOf(found)];
            const isOfGroups = found.groups.length > 0;
            setShown(this.#more, (isOfGroups ? this.#opened : this.#songs).length < found.total);
        }
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
        const isAgain = this.#query.shelf === "heard";
        const isGroup = Boolean(shelfAbove[this.#query.shelf]);
        setShown(this.opened, isGroup);
        setShown(this.all, isGroup && this.#songs.length);
        this.groups.update(this.#opened);
        setShown(this.#groups, this.#opened.length);
        this.found.update(this.#songs.map((song) => {
            const item = items.get(song.id);
            const isPlaying = nowPlaying?.id === song.id;
            return { ...song, item, isPlaying, isAgain, wish: wished.get(song.id) ?? item?.wish };
        }));
    }

    #showLibrary(library) {
        const [words, progress] = this.#library.children;
        setShown(this.#library, library);
        if (!library) return;
        this.playlist?.update(library);
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

/** Artists or albums of a shelf, or those that match the words. */
function groupsOf({ groups, artists, albums }) {
    const of = (some, shelf) => some.map((group) => ({ ...group, shelf }));
    return [...groups, ...of(artists ?? [], "artist"), ...of(albums ?? [], "album")];
}

/** The text about the results. */
function foundText(query, { total, lookedFor }) {
    if (query.shelf !== "words") return shelfText(query, total);
    const none = t`Nothing found for “${shown(query.words, "")}”.`;
    if (!total) return none;
    if (!lookedFor) return plural(total, "{1} song found.", "{1} songs found.");
    const instead = plural(total, "{1} song found for “{2}”.", "{1} songs found for “{2}”.", shown(lookedFor, ""));
    return `${none} ${instead}`;
}

function foundRow(node, isHost, view) {
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
    const more = isHost ? button("quiet more-places", "more", "", () => {
        openMenu(titleOf(row.song), "", places((where) => place(node, [row.song], where, view())));
    }, "places") : null;
    const queued = make("p", "wish", { "data-state": "confirmed", hidden: true }, icon("check"), t`In the queue`);
    const text = make("div", "song-words", {}, words.titleLine, words.artistLine, wish.element, queued);
    row.element = make("li", "song", {}, art.element, text, add, ...(more ? [more] : []));
    row.update = (song) => {
        row.song = song;
        art.update(song);
        words.update(song, { artist: shown(song.artist, ""), length: song.duration ? clock(song.duration) : "" });
        wish.update(song.wish);
        setShown(queued, !isHost && song.item && !song.wish && !song.isPlaying);
        const done = doneWord(song, isHost);
        const isVote = !isHost && song.item;
        const title = titleOf(song);
        const again = isHost && song.isAgain;
        const label = isVote ? t`Vote for ${title}`
            : again ? t`Play ${title} again` : isHost ? t`Add ${title}` : t`Suggest ${title}`;
        const next = isVote ? ["vote", t`Vote`] : again ? ["plus", t`Play again`] : ["plus", word];
        setButton(add, ...(done ? ["check", done, `${label}: ${done}`] : [...next, label]));
        if (more) setButton(more, "more", "", t`Choose when ${title} plays`);
        // The button stays enabled, so that it keeps the focus of a person who has just tapped it.
        setAttribute(add, "aria-disabled", done ? "true" : null);
    };
    return row;
}

/** Why a song cannot be suggested again. Null if it can. */
function doneWord(song, isHost) {
    if (song.isPlaying) return t`Playing`;
    if (isHost) return song.item ? t`Added` : null;
    if (song.wish?.state === "queued" || song.wish?.state === "sent") return song.item ? t`Voted` : t`Asked`;
    return song.item?.mine ? t`Voted` : null;
}
