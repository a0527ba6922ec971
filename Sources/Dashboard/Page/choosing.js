// SPDX-License-Identifier: Apache-2.0

import { askingButton, button, setButton, signal } from "/controls.js";
import { KeyedList, make, setShown, setText } from "/dom.js";
import { personWords } from "/guests.js";
import { icon } from "/icons.js";
import { t } from "/language.js";
import { limits } from "/limits.js";
import { hopsOf, nameOf, shown } from "/text.js";

/** The page of a guest without a host: the hosts in range. */
export class Choosing {
    #heading = make("h2", "large-heading", { id: "choosing-heading" });
    #words = make("p", "hint");
    #hosts = make("ul", "people");
    #known = make("ul", "people");

    constructor(section, node) {
        this.find = button("main", "search", t`Find a host`, () => node.command("retry"), "find");
        this.pin = new PinForm(node);
        const label = make("p", "label", {}, icon("onAir"), make("span", "", {}, t`Hosts in range`));
        this.label = label;
        section.replaceChildren(
            this.#heading, this.#words, this.pin.element, label, this.#hosts, make("div", "buttons", {}, this.find));
        // A single host has the text "Tap to join." above it, and a tap on the host joins it. With several hosts, each
        // has its own button.
        this.#hosts.addEventListener("click", (event) => {
            const isAlone = this.#hosts.children.length === 1 && !event.target.closest("button");
            if (isAlone && !this.find.hidden && !this.find.disabled) node.command("retry");
        });
        this.hosts = new KeyedList(this.#hosts, (host) => host.id, () => hostRow(node));
        this.knownLabel = make("p", "label", { hidden: true }, t`Hosts that you have joined`);
        this.known = new KeyedList(this.#known, (host) => host.id, () => knownRow(node));
        section.append(this.knownLabel, this.#known);
    }

    /** Without a usable node it shows no buttons and no hints. */
    update(view, isUsable) {
        const isLooking = view.connection === "connecting" || view.connection === "reconnecting";
        const wanted = view.wanted ? shown(view.wanted, "") : "";
        // If the PIN form is open, only its button joins. Otherwise the large button joins a single host.
        const asks = isUsable && view.notices.some((notice) => asksPIN.includes(notice.code));
        const heading = isLooking ? t`Looking for a host` : t`Choose a host`;
        setText(this.#heading, asks ? t`Type the PIN` : wanted ? t`Looking for ${wanted}` : heading);
        setText(this.#words, wanted ? wantedWords(view) : words(view, isLooking));
        setShown(this.#words, isUsable && !asks);
        const isChosen = asks || (view.hosts.length === 1 && !view.wanted);
        this.hosts.update(view.hosts.map((host) => ({ ...host, isChosen })));
        const known = view.knownHosts ?? [];
        this.known.update(known);
        for (const part of [this.knownLabel, this.#known]) setShown(part, known.length);
        for (const part of [this.label, this.#hosts]) setShown(part, view.hosts.length);
        setButton(this.find, ...(view.hosts.length ? ["check", t`Join`] : ["search", t`Find a host`]));
        setShown(this.find, !isLooking && !asks && !wanted && view.hosts.length < 2);
        this.pin.update(asks);
    }
}

const asksPIN = ["proofRequired", "wrongPIN"];

/** The form for the PIN, for a guest that the host does not know. */
class PinForm {
    #input = make("input", "", {
        id: "host-pin", inputmode: "numeric", maxlength: limits.pin, autocomplete: "off", required: true,
    });

    constructor(node) {
        this.element = make(
            "form", "fields", { hidden: true }, make("label", "label", { for: "host-pin" }, t`PIN on the host's screen`),
            this.#input, make("button", "main", { type: "submit" }, t`Join`));
        this.element.addEventListener("submit", async (event) => {
            event.preventDefault();
            if (await node.command("pin", { digits: this.#input.value.trim() })) this.#input.value = "";
        });
    }

    update(isShown) {
        setShown(this.element, isShown);
    }
}

function words(view, isLooking) {
    const { length } = view.hosts;
    if (isLooking) return length ? t`Joining…` : t`You join the first host in range automatically.`;
    if (length > 1) return t`Tap the host that you want.`;
    return length ? t`Tap to join.` : t`No host is in range right now.`;
}

/** The text for a guest that was started for one host. */
function wantedWords(view) {
    const joins = t`You join it automatically when it is in range.`;
    return view.hosts.length ? `${joins} ${t`You can also join another host:`}` : `${joins} ${t`No host is in range right now.`}`;
}

function hostRow(node) {
    const { person, update: updatePerson } = personWords();
    const strength = signal();
    const way = make("span");
    const mark = make("span");
    person.lastChild.append(make("p", "details", {}, mark, strength.element, way));
    const row = { host: null };
    const join = button("out", "check", t`Join`, () => node.command("join", { host: row.host.id }), "join");
    row.element = make("li", "person-row", {}, person, join);
    row.update = (host) => {
        row.host = host;
        updatePerson(host, "");
        setText(mark, host.other ? t`another host with this name` : host.known ? t`joined before` : "");
        setShown(mark, host.other || host.known);
        setButton(join, "check", t`Join`, t`Join ${nameOf(host)}`);
        setShown(join, !host.isChosen);
        // Only relays to this host are in range. The first one is the best.
        strength.update(host.hops ? host.relays?.[0]?.rssi : host.rssi);
        setText(way, host.hops ? t`through a relay, ${hopsOf(host.hops)}` : "");
        setShown(way, host.hops);
    };
    return row;
}

/** A host that was joined before. The button forgets the host. */
function knownRow(node) {
    const { person, update: updatePerson } = personWords();
    const words = { word: t`Forget`, label: t`Forget`, question: "", consequence: "" };
    const row = { host: null };
    const forget = askingButton(
        "out", "cross", words, node.announce, () => node.command("forget", { host: row.host.id }));
    row.element = make("li", "person-row", {}, person, forget.element);
    row.update = (host) => {
        row.host = host;
        updatePerson(host, "");
        const name = nameOf(host);
        forget.update({
            label: t`Forget ${name}`, question: t`Really forget ${name}?`,
            consequence: t`Its key and the votes that wait for it are deleted.`,
        });
    };
    return row;
}

/** Whether a guest has no host and is not reconnecting to one. */
export const isChoosing = (view) =>
    view.role === "guest" && view.connection !== "connected" && !(view.connection === "reconnecting" && view.host);
