// SPDX-License-Identifier: Apache-2.0

import { button, signal } from "/controls.js";
import { KeyedList, make, setShown, setText } from "/dom.js";
import { personWords } from "/guests.js";
import { icon } from "/icons.js";

/** A guest without a host: which hosts are in earshot. */
export class Choosing {
    #heading = make("h2", "large-heading", { id: "choosing-heading" });
    #words = make("p", "hint");
    #hosts = make("ul", "people");

    constructor(section, box) {
        this.find = button("main", "search", "Find a host", () => box.command("retry"), "find");
        const label = make("p", "label", {}, icon("onAir"), make("span", "", {}, "Hosts in earshot"));
        this.label = label;
        section.replaceChildren(
            this.#heading, this.#words, label, this.#hosts, make("div", "buttons", {}, this.find));
        this.hosts = new KeyedList(this.#hosts, (host) => host.id, hostRow);
    }

    update(view) {
        const isLooking = view.connection === "connecting" || view.connection === "reconnecting";
        setText(this.#heading, isLooking ? "Looking for a host" : "Choose a host");
        setText(this.#words, words(view, isLooking));
        this.hosts.update(view.hosts);
        for (const part of [this.label, this.#hosts]) setShown(part, view.hosts.length);
        setShown(this.find, !isLooking);
    }
}

function words(view, isLooking) {
    if (isLooking) return view.hosts.length ? "Joining…" : "The first one that is heard is joined by itself.";
    return view.hosts.length ? "A tap joins the first one that is heard." : "None is heard right now.";
}

function hostRow() {
    const { person, update: updatePerson } = personWords();
    const strength = signal();
    person.lastChild.append(make("p", "details", {}, strength.element));
    const update = (host) => {
        updatePerson(host, "");
        strength.update(host.rssi);
    };
    return { element: make("li", "person-row", {}, person), update };
}

/** Whether a guest has no host, and none that it is about to come back to. */
export const isChoosing = (view) =>
    view.role === "guest" && view.connection !== "connected" && !(view.connection === "reconnecting" && view.host);
