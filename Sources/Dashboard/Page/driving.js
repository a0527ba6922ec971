// SPDX-License-Identifier: Apache-2.0

import { titles } from "/commands.js";
import { button, cover, setButton } from "/controls.js";
import { foreign, make, setAttribute, setClass, setLongText, setShown, setText } from "/dom.js";
import { Favourite } from "/favourite.js";
import { icon, setIcon } from "/icons.js";
import { t } from "/language.js";
import { limits } from "/limits.js";
import { elapsed, titleOf, votesOf } from "/text.js";

/** What a driver has while driving: what plays, pause, skip, and what the others want most. Nothing in it moves. */
export class Driving {
    #cover = cover("large");
    #title = foreign();
    #progress = make("progress", "", { "aria-label": t`Progress of the song` });
    #trouble = icon("warning");
    #votes = make("span", "drive-votes");
    #art = cover("tile");
    #favourite = new Favourite();
    #view = null;
    #receivedAt = 0;
    #offered = null;

    /** `leave` goes back to all the rest. */
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
        const heading = make("h1", "drive-title", { id: "driving-heading" }, this.#title);
        const song = make("section", "drive-song", {}, this.#cover.element, heading, this.#progress);
        const buttons = make("section", "drive-buttons", { "aria-label": t`Driving view` },
            this.play, this.skip, this.like, this.leave);
        main.replaceChildren(song, buttons, this.#trouble);
        main.addEventListener("pointerdown", () => this.#favourite.touched(performance.now()));
    }

    /** Shows a view that came at `receivedAt`; `isInTrouble` where there is something to read, when the car stands. */
    update(view, receivedAt, { isReachable, isOver, isInTrouble }) {
        this.#view = view;
        this.#receivedAt = receivedAt;
        const item = view.nowPlaying;
        this.#cover.update(item ?? { title: "", artist: "", art: null });
        setClass(this.main, "silent", !item);
        setLongText(this.#title, item ? titleOf(item) : t`Nothing is playing`, item?.title);
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

    /** Counts the progress on. */
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
        // A node without undo puts no song in front.
        const item = this.#favourite.take(this.#view.undo === undefined ? [] : this.#view.queue, now);
        this.#offered = item;
        setClass(this.like, "none", !item);
        setAttribute(this.like, "disabled", !item || !this.isUsable);
        setAttribute(this.like, "aria-label", item
            ? t`Play ${titleOf(item)} now, ${votesOf(item.votes)}` : t`Nobody has voted yet`);
        if (!item) return;
        this.#art.update(item);
        setText(this.#votes, String(item.votes));
    }

    #next() {
        return () => this.node.command(this.#view.isPlaying ? "pause" : "play");
    }

    /** What plays a song of the queue now. */
    #playing(item) {
        const { queue, nowPlaying, isPlaying } = this.#view;
        return async () => {
            if (queue[0]?.id !== item.id && !(await this.node.command("playNext", { songID: item.id }))) return false;
            if (nowPlaying && !(await this.node.command("skip"))) return false;
            return (nowPlaying && isPlaying) || this.node.command("play");
        };
    }

    /** Does what a button is for; where that fails, the button shows it for a moment. */
    async #do(control, act) {
        if (await act()) return;
        setClass(control, "failed", true);
        setTimeout(() => setClass(control, "failed", false), limits.failed);
    }
}
