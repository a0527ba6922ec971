// SPDX-License-Identifier: Apache-2.0

import { tellOnTap } from "/about.js";
import { titles } from "/commands.js";
import { button, cover, setButton, songWords, wishLine } from "/controls.js";
import { foreign, make, setAttribute, setClass, setShown, setText } from "/dom.js";
import { icon, setIcon } from "/icons.js";
import { around, t } from "/language.js";
import { Seek } from "/seek.js";
import { clock, elapsed, nameOf, votesOf } from "/text.js";
import { Volume } from "/volume.js";

/** The playing song: cover, title, progress, and the buttons of this role. */
export class Playing {
    #cover = cover("large");
    #words = songWords("h3");
    #wish = wishLine();
    #mark = icon("note");
    #state = make("span");
    #asked = make("p", "asked");
    #asker = foreign();
    #asking = make("span");
    #votes = make("span");
    #done = make("span");
    #whole = make("span");
    #times = make("p", "times", { "aria-hidden": "true" }, this.#done, this.#whole);
    #empty = make("p", "hint");
    #view = null;
    #receivedAt = 0;

    constructor(section, node, isHost, onSearch) {
        Object.assign(this, { section, isHost });
        this.volume = new Volume(node);
        this.previous = button("main step", "previous", "", () => {
            if (!this.previous.getAttribute("aria-disabled")) node.command("previous");
        }, "previous");
        setButton(this.previous, "previous", "", t`Previous song`);
        this.play = button("main", "play", t(titles.host.play), () => node.command(this.#view?.isPlaying ? "pause" : "play"), "play");
        this.skip = button("main", "skip", t(titles[isHost ? "host" : "guest"].skip), () => {
            if (!this.skip.getAttribute("aria-disabled")) node.command("skip");
        }, "skip");
        this.find = button("main only", "search", isHost ? t`Add songs` : t`Find a song`, onSearch, "find");
        const buttons = make("div", "buttons", {}, ...(isHost ? [this.previous, this.play] : []), this.skip, this.find);
        const [before, after] = around("{1} asked");
        this.#asking.append(before, this.#asker, after);
        this.#asked.append(this.#asking, this.#votes);
        const heading = make("h2", "label", { id: "playing-heading" }, this.#mark, this.#state);
        this.song = make(
            "div", "song-words", {}, this.#words.titleLine, this.#words.artistLine, this.#asked, this.#wish.element);
        const hostID = () => this.#view?.host?.id ?? (isHost ? this.#view?.me.id : null);
        tellOnTap(this.song, () => ({ item: this.#view?.nowPlaying, hostID: hostID() }));
        this.seek = new Seek(node, isHost, (seconds) => setText(this.#done, clock(seconds)));
        this.time = make("div", "time", {}, this.seek.element, this.#times);
        section.replaceChildren(heading, this.#cover.element, this.song, this.#empty, this.time, buttons,
            this.volume.element);
    }

    /** Shows a view that arrived at `receivedAt`, a time on the clock of `tick`. */
    update(view, receivedAt, isStale, isOver) {
        this.#view = view;
        this.#receivedAt = receivedAt;
        const item = view.nowPlaying;
        const isMute = view.sound === false && item;
        setIcon(this.#mark, isStale ? "clock" : isMute ? "mute" : "note");
        setText(this.#state, isStale ? t`Last known` : stateWords(view));
        setClass(this.section, "mute", !isStale && isMute);
        setClass(this.section, "empty", !item);
        for (const part of [this.#cover.element, this.song, this.time]) setShown(part, item);
        setShown(this.#empty, !item && !isOver);
        if (item) this.#showSong(item, view.host?.id ?? (this.isHost ? view.me.id : null));
        else setText(this.#empty, this.#emptyWords(view));
        this.#showButtons(isOver ? { ...view, volume: null, shuffle: null, canGoBack: null } : view);
        this.tick(receivedAt);
    }

    /** Advances the progress. */
    tick(now) {
        const item = this.#view?.nowPlaying;
        if (!item) return;
        const seconds = elapsed(this.#view, this.#receivedAt, now);
        const isKnown = item.duration > 0;
        if (!this.seek.isChosen) setText(this.#done, clock(seconds));
        setText(this.#whole, isKnown ? clock(item.duration) : "");
        this.seek.update(seconds, item.duration);
    }

    #showSong(item, hostID) {
        this.#cover.update(item);
        this.#words.update(item, { artist: item.artist });
        const isAsked = item.addedBy && item.addedBy !== hostID;
        setText(this.#asker, isAsked ? nameOf({ id: item.addedBy, name: item.addedByName }) : "");
        setShown(this.#asking, isAsked);
        const votes = item.votes > 0 ? votesOf(item.votes) : "";
        setText(this.#votes, isAsked && votes ? ` · ${votes}` : votes);
        setShown(this.#asked, isAsked || votes);
        this.#wish.update(item.wish);
    }

    #showButtons(view) {
        const { skip, nowPlaying } = view;
        setShown(this.find, !nowPlaying && !view.queue.length && (this.isHost || view.connection === "connected"));
        // Without a host a vote to skip is not queued, unlike a vote for a song.
        const maySkip = this.isHost || ((skip?.allowed || view.steers) && view.connection === "connected");
        setShown(this.skip, nowPlaying && maySkip);
        if (this.isHost) {
            setShown(this.play, nowPlaying || view.queue.length);
            const next = view.isPlaying ? "pause" : "play";
            setButton(this.play, next, t(titles.host[next]));
            this.volume.update(view);
            setShown(this.previous, typeof view.canGoBack === "boolean" && nowPlaying);
            setAttribute(this.previous, "aria-disabled", view.canGoBack ? null : "true");
        }
        if (this.isHost || view.steers) return this.#showDriversSkip(skip);
        setClass(this.skip, "wanted", false);
        if (!skip?.allowed) return;
        const words = skip.mine
            ? t`You voted to skip (${skip.votes} of ${skip.needed})` : t`Vote to skip (${skip.votes} of ${skip.needed})`;
        setButton(this.skip, skip.mine ? "check" : "skip", words);
        setAttribute(this.skip, "aria-pressed", String(Boolean(skip.mine)));
        // A vote to skip cannot be taken back. But the button is not disabled, so that it keeps the focus.
        setAttribute(this.skip, "aria-disabled", skip.mine ? "true" : null);
    }

    #showDriversSkip(skip) {
        const isWanted = skip?.votes > 0;
        const word = t(titles.host.skip);
        const label = isWanted ? `${word}. ${t`${skip.votes} of ${skip.needed} votes to skip.`}` : word;
        setButton(this.skip, "skip", isWanted ? `${word} ${skip.votes}/${skip.needed}` : word, label);
        setClass(this.skip, "wanted", isWanted);
        for (const attribute of ["aria-pressed", "aria-disabled"]) setAttribute(this.skip, attribute, null);
    }

    #emptyWords(view) {
        if (this.isHost) return view.queue.length ? t`Tap Play to start the music.` : t`Add a song to start the music.`;
        return view.host ? t`Find a song and suggest it.` : t`Join a host to see what plays.`;
    }
}

function stateWords(view) {
    if (!view.nowPlaying) return t`Nothing is playing`;
    if (view.sound === false) return t`No sound`;
    return view.isPlaying ? t`Now playing` : t`Paused`;
}
