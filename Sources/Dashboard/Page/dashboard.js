// SPDX-License-Identifier: Apache-2.0

import { Choosing, isChoosing } from "/choosing.js";
import { setClass, setShown } from "/dom.js";
import { Guests } from "/guests.js";
import { Invitation } from "/invitation.js";
import { Playing } from "/playing.js";
import { Queue } from "/queue.js";
import { Search } from "/search.js";
import { Tabs } from "/tabs.js";

/** What a role sees of a session: what plays on one side, the lists on the other. */
export class Dashboard {
    constructor(main, role, box) {
        const isHost = role === "host";
        const [playing, choosing, lists] = main.children;
        Object.assign(this, { main, playingSection: playing, choosingSection: choosing, lists });
        this.tabs = new Tabs(lists, [
            { id: "queue", icon: "queue", word: "Up next" },
            { id: "search", icon: "search", word: isHost ? "Add" : "Search" },
            { id: "guests", icon: "person", word: "Guests" },
            ...(isHost ? [{ id: "invitation", icon: "invite", word: "Invite" }] : []),
        ]);
        this.playing = new Playing(playing, box, isHost, () => {
            this.tabs.show("search");
            this.search.focus();
        });
        this.choosing = new Choosing(choosing, box);
        this.queue = new Queue(this.tabs.panel("queue"), box, isHost);
        this.search = new Search(this.tabs.panel("search"), box, isHost);
        this.guests = new Guests(this.tabs.panel("guests"), box, isHost);
        this.invitation = isHost ? new Invitation(this.tabs.panel("invitation")) : null;
    }

    /** Shows a view that came at `receivedAt`; what `isStale` is from before a gap. */
    update(view, receivedAt, isStale) {
        setClass(this.main, "stale", isStale);
        const choosing = isChoosing(view);
        setShown(this.playingSection, !choosing);
        setShown(this.choosingSection, choosing);
        this.playing.update(view, receivedAt, isStale);
        if (choosing) this.choosing.update(view);
        this.queue.update(view, isStale);
        this.search.update(view);
        this.guests.update(view);
        this.invitation?.update(view);
        this.tabs.setCount("queue", view.queue.length);
        this.tabs.setCount("guests", view.guests.length);
    }

    tick(now) {
        this.playing.tick(now);
    }
}
