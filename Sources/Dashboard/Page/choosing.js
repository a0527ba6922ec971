// SPDX-License-Identifier: Apache-2.0

import { button, setButton, signal } from "/controls.js";
import { KeyedList, make, setShown, setText } from "/dom.js";
import { personWords } from "/guests.js";
import { icon } from "/icons.js";
import { t } from "/language.js";
import { hopsOf } from "/text.js";

/** A guest without a host: which hosts are in range. */
export class Choosing {
    #heading = make("h2", "large-heading", { id: "choosing-heading" });
    #words = make("p", "hint");
    #hosts = make("ul", "people");

    constructor(section, node) {
        this.find = button("main", "search", t`Find a host`, () => node.command("retry"), "find");
        const label = make("p", "label", {}, icon("onAir"), make("span", "", {}, t`Hosts in range`));
        this.label = label;
        section.replaceChildren(
            this.#heading, this.#words, label, this.#hosts, make("div", "buttons", {}, this.find));
        // "Tap to join." above a single host: a tap on that host is one. Among several nobody can choose.
        this.#hosts.addEventListener("click", () => {
            if (this.#hosts.children.length === 1 && !this.find.disabled) node.command("retry");
        });
        this.hosts = new KeyedList(this.#hosts, (host) => host.id, hostRow);
    }

    /** Where nothing can be joined from here, nothing is offered. */
    update(view, isUsable) {
        const isLooking = view.connection === "connecting" || view.connection === "reconnecting";
        setText(this.#heading, isLooking ? t`Looking for a host` : t`Choose a host`);
        setText(this.#words, words(view, isLooking));
        setShown(this.#words, isUsable);
        this.hosts.update(view.hosts);
        for (const part of [this.label, this.#hosts]) setShown(part, view.hosts.length);
        setButton(this.find, ...(view.hosts.length ? ["check", t`Join`] : ["search", t`Find a host`]));
        setShown(this.find, !isLooking);
    }
}

function words(view, isLooking) {
    const { length } = view.hosts;
    if (isLooking) return length ? t`Joining…` : t`You join the first host in range automatically.`;
    if (length > 1) return t`Tap Join: the first host that answers is joined.`;
    return length ? t`Tap to join.` : t`No host is in range right now.`;
}

function hostRow() {
    const { person, update: updatePerson } = personWords();
    const strength = signal();
    const way = make("span");
    person.lastChild.append(make("p", "details", {}, strength.element, way));
    const update = (host) => {
        updatePerson(host, "");
        // Only relays to it are heard: the best of them is the first.
        strength.update(host.hops ? host.relays?.[0]?.rssi : host.rssi);
        setText(way, host.hops ? t`through a relay, ${hopsOf(host.hops)}` : "");
        setShown(way, host.hops);
    };
    return { element: make("li", "person-row", {}, person), update };
}

/** Whether a guest has no host, and none that it is about to come back to. */
export const isChoosing = (view) =>
    view.role === "guest" && view.connection !== "connected" && !(view.connection === "reconnecting" && view.host);
