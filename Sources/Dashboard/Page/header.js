// SPDX-License-Identifier: Apache-2.0

import { titles } from "/commands.js";
import { askingButton, signal } from "/controls.js";
import { foreign, make, setAttribute, setLongText, setShown, setText } from "/dom.js";
import { icon, setIcon } from "/icons.js";
import { themeButton } from "/theme.js";
import { counted, nameOf, shown } from "/text.js";
import { through } from "/tree.js";

const title = document.getElementById("title");
const state = document.getElementById("state");

/** Whose session this is, how the connection is, and the way out. */
export class Header {
    #mark = icon("onAir");
    // The signal beside it changes all the time, and is not read out.
    #words = make("span", "", { role: "status" });
    #attempt = make("span", "attempt");
    #way = through("way");
    #signal = signal();
    #name = foreign();
    #me = foreign("me");
    #out = null;

    constructor(buttons) {
        this.buttons = buttons;
        title.replaceChildren(this.#name);
        state.replaceChildren(this.#mark, this.#words, this.#attempt, this.#way.element, this.#signal.element);
        setText(this.#name, "RoadMesh");
        buttons.replaceChildren(this.#me, themeButton());
    }

    /** Gives the role its way out: a host ends the session, a guest leaves it. */
    setRole(role, node) {
        this.#out?.element.remove();
        const isHost = role === "host";
        const words = isHost
            ? {
                word: titles.host.end, label: "End the session", question: "Really end the session for everybody?",
                consequence: "The queue is deleted and all guests leave.",
            }
            : {
                word: titles.guest.leave, label: "Leave the host", question: "Really leave the host?",
                consequence: "You can join again at any time.",
            };
        this.#out = askingButton("out", isHost ? "end" : "leave", words, node.announce, () => node.leave(isHost));
        this.buttons.append(this.#out.element);
    }

    update(view, isReachable) {
        const isHost = view.role === "host";
        const place = isHost ? view.me : view.host;
        setLongText(this.#name, place ? shown(place.name, "(no name)") : "Democracy DJ", place?.name);
        setText(this.#me, isHost ? "" : nameOf(view.me));
        setShown(this.#me, !isHost);
        const [mark, words] = isReachable || view.ended ? connectionWords(view) : ["away", "Out of reach"];
        setIcon(this.#mark, mark);
        setText(this.#words, words);
        const isTrying = isReachable && /^(re)?connecting$/.test(view.connection) && !view.ended;
        setText(this.#attempt, isTrying && view.attempt > 1 ? `· attempt ${view.attempt}` : "");
        setAttribute(state, "data-good", String(["onAir", "linked"].includes(mark)));
        const me = view.guests.find((guest) => guest.isMe);
        const isLinked = isReachable && !view.ended && view.connection === "connected";
        this.#way.update(isLinked ? me?.via : null);
        this.#signal.update(isLinked ? me?.rssi : null);
        setAttribute(this.#out.element, "disabled", !isReachable);
        setShown(this.#out.element, (isHost || view.connection !== "disconnected") && !view.ended);
    }

    /** Nobody has joined from here yet. */
    showStranger() {
        setText(this.#name, "RoadMesh");
        setText(this.#me, "");
        setShown(this.#me, false);
        setIcon(this.#mark, "info");
        setText(this.#words, "Not joined yet");
        setAttribute(state, "data-good", "false");
        setText(this.#attempt, "");
        this.#way.update(null);
        this.#signal.update(null);
        if (this.#out) setShown(this.#out.element, false);
    }
}

/** An icon and words for how the connection is. */
function connectionWords(view) {
    if (view.ended) return ["end", "Ended"];
    switch (view.connection) {
        case "hosting": return ["onAir", `On the air · ${counted(view.guests.length, "guest")}`];
        case "connected": return ["linked", "Connected"];
        case "connecting": return ["clock", "Connecting…"];
        case "reconnecting": return ["clock", "Reconnecting…"];
        case "failed": return ["away", "Not connected"];
        default: return ["away", "No host"];
    }
}
