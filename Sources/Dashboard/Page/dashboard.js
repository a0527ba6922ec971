// SPDX-License-Identifier: Apache-2.0

import { Choosing, isChoosing } from "/choosing.js";
import { setAttribute, setClass, setShown } from "/dom.js";
import { Guests } from "/guests.js";
import { Invitation } from "/invitation.js";
import { t } from "/language.js";
import { Playing } from "/playing.js";
import { Queue } from "/queue.js";
import { Search } from "/search.js";
import { Tabs } from "/tabs.js";

/** The page of one role: the playing song on one side, the lists on the other. */
export class Dashboard {
    constructor(main, role, node) {
        const isHost = role === "host";
        const [playing, choosing, lists] = main.children;
        Object.assign(this, { main, playingSection: playing, choosingSection: choosing, lists });
        this.tabs = new Tabs(lists, [
            { id: "queue", icon: "queue", word: t`Up next` },
            { id: "search", icon: "search", word: isHost ? t`Add` : t`Search` },
            { id: "guests", icon: "person", word: t`Guests` },
            ...(isHost ? [{ id: "invitation", icon: "invite", word: t`Invite` }] : []),
        ]);
        this.playing = new Playing(playing, node, isHost, () => this.openSearch());
        this.choosing = new Choosing(choosing, node);
        this.queue = new Queue(this.tabs.panel("queue"), node, isHost);
        this.search = new Search(this.tabs.panel("search"), node, isHost);
        this.guests = new Guests(this.tabs.panel("guests"), node, isHost);
        this.invitation = isHost ? new Invitation(this.tabs.panel("invitation"), node) : null;
    }

    /**
     * Shows a view that arrived at `receivedAt`. `isStale` means that the view is from before a gap. The other flags
     * say whether the node is in reach, and whether the session is over.
     */
    update(view, receivedAt, { isStale, isReachable, isOver }) {
        setClass(this.main, "stale", isStale);
        const choosing = isChoosing(view);
        setShown(this.playingSection, !choosing);
        setShown(this.choosingSection, choosing);
        this.playing.update(view, receivedAt, isStale, isOver);
        if (choosing) this.choosing.update(view, isReachable && !isOver);
        this.queue.update(view, isStale, isOver);
        this.search.update(view);
        this.guests.update(view, isStale, isOver);
        this.invitation?.update(view);
        this.tabs.setCount("queue", view.queue.length);
        this.tabs.setCount("guests", view.guests.length + view.moreGuests);
        this.#setUsable(isReachable, isOver);
    }

    /** Disables buttons that cannot work. While the node is out of reach only votes and searches are queued. */
    #setUsable(isReachable, isOver) {
        for (const control of this.main.querySelectorAll("button:not(.tab), input")) {
            setAttribute(control, "disabled", isOver || (!isReachable && !control.matches(".waits")));
        }
    }

    /** Shows the search, with the cursor in its field. */
    openSearch() {
        this.tabs.show("search");
        this.search.focus();
        return true;
    }

    /** Repeats a failed search, because the connection is back. */
    searchAgain() {
        this.search.again();
    }

    tick(now) {
        this.playing.tick(now);
    }
}
