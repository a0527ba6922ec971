// SPDX-License-Identifier: Apache-2.0

import { titles } from "/commands.js";
import { button, cover, setButton } from "/controls.js";
import { foreign, make, setAttribute, setClass, setLongText, setShown, setText } from "/dom.js";
import { Favourite } from "/favourite.js";
import { icon, setIcon } from "/icons.js";
import { t } from "/language.js";
import { limits } from "/limits.js";
import { cut, elapsed, shown, titleOf, votesOf } from "/text.js";

/** Shortens title and artist to `limits.glance` characters in total, so that a driver can read them at a glance. */
export function glance(title, artist) {
    const room = Math.max(limits.glance - artist.length, limits.glance / 2);
    const short = cut(title, room - 1);
    return [short, cut(artist, Math.max(0, limits.glance - short.length - 1))];
}

/** The driving view: the song, pause, skip, volume, and the song with the most votes. Nothing in it moves. */
export class Driving {
    #cover = cover("large");
    #title = foreign();
    #artist = foreign();
    #level = make("span", "drive-level");
    #progress = make("progress", "", { "aria-label": t`Progress of the song` });
    #trouble = icon("warning");
    #votes = make("span", "drive-votes");
    #art = cover("tile");
    #favourite = new Favourite();
    #view = null;
    #receivedAt = 0;
    #offered = null;
    #asked = 0;
    #askedAt = -Infinity;

    /** `leave` returns to the normal page. */
    constructor(main, node, leave) {
        Object.assign(this, { main, node });
        this.play = button("drive go", "play", "", () => this.#do(this.play, this.#next()), "play");
        this.skip = button("drive", "skip", "", () => this.#do(this.skip, () => node.command("skip")), "skip");
        this.like = make(
            "button", "drive like", { type: "button", "data-control": "like" }, this.#art.element,
            make("span", "drive-mark", {}, icon("vote"), this.#votes));
        this.like.addEventListener("click", () => this.#offered && this.#do(this.like, this.#playing(this.#offered)));
        this.leave = button("drive", "queue", "", leave, "back");
        setButton(this.leave, "queue", "", t`Leave the driving view`);
        this.quieter = button("drive", "quieter", "", () => this.#do(this.quieter, this.#volume(-limits.volumeStep)), "quieter");
        this.louder = button("drive", "louder", "", () => this.#do(this.louder, this.#volume(limits.volumeStep)), "louder");
        setButton(this.quieter, "quieter", "", t`Quieter`);
        setButton(this.louder, "louder", "", t`Louder`);
        this.volume = make("div", "drive-volume", {}, this.quieter, this.#level, this.louder);
        const heading = make("h1", "drive-title", { id: "driving-heading" }, this.#title);
        const artist = make("p", "drive-artist", {}, this.#artist);
        const song = make("section", "drive-song", {}, this.#cover.element, make("div", "drive-words", {}, heading, artist),
            this.#progress);
        const buttons = make("section", "drive-buttons", { "aria-label": t`Driving view` },
            this.play, this.skip, this.like, this.leave, this.volume);
        main.replaceChildren(song, buttons, this.#trouble);
        main.addEventListener("pointerdown", () => this.#favourite.touched(performance.now()));
    }

    /**
     * Shows a view that came at `receivedAt`. `isInTrouble` means that a message waits to be read when the car has
     * stopped.
     */
    update(view, receivedAt, { isReachable, isOver, isInTrouble }) {
        this.#view = view;
        this.#receivedAt = receivedAt;
        const item = view.nowPlaying;
        this.#cover.update(item ?? { title: "", artist: "", art: null });
        setClass(this.main, "silent", !item);
        const [title, artist] = glance(item ? titleOf(item) : t`Nothing is playing`, item ? shown(item.artist, "") : "");
        setLongText(this.#title, title, item?.title);
        setLongText(this.#artist, artist, item?.artist);
        const hasVolume = typeof view.volume === "number";
        setClass(this.volume, "none", !hasVolume);
        setText(this.#level, hasVolume ? `${this.#wanted()} %` : "");
        setAttribute(this.quieter, "disabled", !hasVolume || !isReachable || isOver);
        setAttribute(this.louder, "disabled", !hasVolume || !isReachable || isOver);
        const next = t(titles.host[view.isPlaying ? "pause" : "play"]);
        setButton(this.play, view.isPlaying ? "pause" : "play", "", next);
        setButton(this.skip, "skip", "", t(titles.host.skip));
        setAttribute(this.play, "disabled", !isReachable || isOver || !(item || view.queue.length));
        setAttribute(this.skip, "disabled", !isReachable || isOver || !item);
        const isMute = view.sound === false;
        setIcon(this.#trouble, !isReachable ? "away" : isMute ? "mute" : "warning");
        setClass(this.#trouble, "unseen", isReachable && !isMute && !isInTrouble);
        this.isUsable = isReachable && !isOver;
        this.#offer(performance.now());
        this.tick(receivedAt);
    }

    /** Advances the progress bar. */
    tick(now) {
        const item = this.#view?.nowPlaying;
        setShown(this.#progress, item?.duration > 0);
        if (item?.duration > 0) {
            setAttribute(this.#progress, "max", String(item.duration));
            setAttribute(this.#progress, "value", String(Math.floor(elapsed(this.#view, this.#receivedAt, now))));
        }
        if (this.#view) this.#offer(performance.now());
    }

    #offer(now) {
        // A node without undo does not support `playNext`.
        const item = this.#favourite.take(this.#view.undo === undefined ? [] : this.#view.queue, now);
        this.#offered = item;
        setClass(this.like, "none", !item);
        setAttribute(this.like, "disabled", !item || !this.isUsable);
        setAttribute(this.like, "aria-label", item
            ? t`Play ${titleOf(item)} now, ${votesOf(item.votes)}` : t`No votes yet`);
        if (!item) return;
        this.#art.update(item);
        setText(this.#votes, String(item.votes));
    }

    /** The requested volume, until the node has had time to apply it; then the node's volume. */
    #wanted() {
        return performance.now() - this.#askedAt < limits.landing ? this.#asked : this.#view.volume;
    }

    #volume(change) {
        return () => {
            const percent = Math.min(100, Math.max(0, Math.round((this.#wanted() + change) / change) * change));
            [this.#asked, this.#askedAt] = [percent, performance.now()];
            setText(this.#level, `${percent} %`);
            return this.node.command("volume", { percent });
        };
    }

    #next() {
        return () => this.node.command(this.#view.isPlaying ? "pause" : "play");
    }

    /** An action that plays a song of the queue now. */
    #playing(item) {
        const { queue, nowPlaying, isPlaying } = this.#view;
        return async () => {
            if (queue[0]?.id !== item.id && !(await this.node.command("playNext", { songID: item.id }))) return false;
            if (nowPlaying && !(await this.node.command("skip"))) return false;
            return (nowPlaying && isPlaying) || this.node.command("play");
        };
    }

    /** Runs a button's action. If it fails, the button shows that for `limits.failed`. */
    async #do(control, act) {
        // The button reacts immediately, however long the node takes.
        setClass(control, "busy", true);
        setTimeout(() => setClass(control, "busy", false), limits.response);
        if (await act()) return;
        setClass(control, "failed", true);
        setTimeout(() => setClass(control, "failed", false), limits.failed);
    }
}
