// SPDX-License-Identifier: Apache-2.0

import { titles } from "/commands.js";
import { askingButton, button, setButton, signal } from "/controls.js";
import { foreign, make, setAttribute, setLongText, setShown, setText } from "/dom.js";
import { icon, setIcon } from "/icons.js";
import { t } from "/language.js";
import { themeButton } from "/theme.js";
import { guestsOf, nameOf, shown } from "/text.js";
import { through } from "/tree.js";

const title = document.getElementById("title");
const state = document.getElementById("state");

/** The session's name, the state of the connection, and the button to leave. */
export class Header {
    #mark = icon("onAir");
    // Only these words are read aloud, because the signal next to them changes all the time.
    #main = make("span");
    #more = make("span", "more-words");
    #words = make("span", "", { role: "status" }, this.#main, this.#more);
    #attempt = make("span", "attempt");
    #way = through("way");
    #signal = signal();
    #name = foreign();
    #me = foreign("me");
    #out = null;

    /** `drive` opens the driving view. */
    constructor(buttons, drive) {
        this.buttons = buttons;
        this.drive = button("quiet", "wheel", "", drive, "drive");
        setButton(this.drive, "wheel", "", t`Driving view`);
        setShown(this.drive, false);
        title.replaceChildren(this.#name);
        state.replaceChildren(this.#mark, this.#words, this.#attempt, this.#way.element, this.#signal.element);
        setText(this.#name, "RoadMesh");
        buttons.replaceChildren(this.#me, this.drive, themeButton());
    }

    /** Adds the role's leave button: a host ends the session, a guest leaves it. */
    setRole(role, node) {
        this.#out?.element.remove();
        const isHost = role === "host";
        const words = isHost
            ? {
                word: t(titles.host.end), label: t`End the session`, question: t`Really end the session for everybody?`,
                consequence: t`The queue is deleted, and a new session begins.`,
            }
            : {
                word: t(titles.guest.leave), label: t`Leave the host`, question: t`Really leave the host?`,
                consequence: t`You can join again at any time.`,
            };
        this.#out = askingButton("out", isHost ? "end" : "leave", words, node.announce, () => node.leave(isHost));
        this.buttons.append(this.#out.element);
    }

    update(view, isReachable) {
        const isHost = view.role === "host";
        const place = isHost ? view.me : view.host;
        setLongText(this.#name, place ? shown(place.name, t`(no name)`) : "RoadMesh", place?.name);
        setText(this.#me, isHost ? "" : nameOf(view.me));
        setShown(this.#me, !isHost);
        setShown(this.drive, isHost && !view.ended);
        const [mark, words, more = ""] = isReachable || view.ended ? connectionWords(view) : ["away", t`Out of reach`];
        setIcon(this.#mark, mark);
        this.#say(words, more);
        const isTrying = isReachable && /^(re)?connecting$/.test(view.connection) && !view.ended;
        setText(this.#attempt, isTrying && view.attempt > 1 ? `· ${t`attempt ${view.attempt}`}` : "");
        setAttribute(state, "data-good", String(["onAir", "linked"].includes(mark)));
        const me = view.guests.find((guest) => guest.isMe);
        const isLinked = isReachable && !view.ended && view.connection === "connected";
        this.#way.update(isLinked ? me?.via : null);
        this.#signal.update(isLinked ? me?.rssi : null, isLinked ? me?.bearer : null);
        setAttribute(this.#out.element, "disabled", !isReachable);
        setShown(this.#out.element, (isHost || view.connection !== "disconnected") && !view.ended);
    }

    /** Shows the state of the connection. `more` is hidden on a phone, which has only one line for it. */
    #say(words, more = "") {
        setText(this.#main, words);
        setText(this.#more, more ? ` · ${more}` : "");
    }

    /** No guest has joined from this browser yet. */
    showStranger() {
        setText(this.#name, "RoadMesh");
        setText(this.#me, "");
        setShown(this.#me, false);
        setShown(this.drive, false);
        setIcon(this.#mark, "info");
        this.#say(t`Not joined yet`);
        setAttribute(state, "data-good", "false");
        setText(this.#attempt, "");
        this.#way.update(null);
        this.#signal.update(null);
        if (this.#out) setShown(this.#out.element, false);
    }
}

/** An icon and words for the state of the connection. */
function connectionWords(view) {
    if (view.ended) return ["end", t`Ended`];
    switch (view.connection) {
        case "hosting": return ["onAir", t`On the air`, guestsOf(view.guests.length)];
        case "connected": return ["linked", t`Connected`];
        case "connecting": case "failed": case "disconnected": case "reconnecting":
            if (view.wanted) return ["clock", t`Not in range`];
    }
    switch (view.connection) {
        case "connecting": return ["clock", t`Connecting…`];
        case "reconnecting": return ["clock", t`Reconnecting…`];
        case "failed": return ["away", t`Not connected`];
        default: return ["away", t`No host`];
    }
}
