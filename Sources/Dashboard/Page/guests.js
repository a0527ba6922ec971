// SPDX-License-Identifier: Apache-2.0

import { titles } from "/commands.js";
import { askingButton, signal } from "/controls.js";
import { foreign, KeyedList, make, setLongText, setShown, setStyle, setText } from "/dom.js";
import { icon } from "/icons.js";
import { hue, initials, milliseconds, nameOf } from "/text.js";

/** Who is there, and how well each is heard. A host can send guests away. */
export class Guests {
    #stale = make("p", "label", {}, icon("clock"), make("span", "", {}, "Last known guests"));
    #list = make("ul", "people");
    #empty = make("p", "hint");

    constructor(panel, node, isHost) {
        this.isHost = isHost;
        panel.append(this.#stale, this.#list, this.#empty);
        this.guests = new KeyedList(this.#list, (guest) => guest.id, () => guestRow(node, isHost));
    }

    update(view, isStale, isOver) {
        setShown(this.#stale, isStale && view.guests.length);
        this.guests.update(view.guests);
        setShown(this.#list, view.guests.length);
        setShown(this.#empty, !view.guests.length);
        const words = this.isHost ? "Nobody is here yet. Guests in the car join automatically." : "No guests are here.";
        setText(this.#empty, isOver ? "No guests were here." : words);
    }
}

function guestRow(node, isHost) {
    const { person, update: updatePerson } = personWords();
    const strength = signal();
    const time = make("span");
    const web = make("span", "signal", { hidden: true }, icon("web"), make("span", "", {}, "Web"));
    const details = make("p", "details", {}, strength.element, web, time);
    person.lastChild.append(details);
    const row = { guest: null, element: make("li", "person-row", {}, person) };
    const words = { word: titles.host.kick, label: titles.host.kick };
    const kick = isHost
        ? askingButton("out", "leave", words, node.announce, () => node.command("kick", { peer: row.guest.id }))
        : null;
    if (kick) row.element.append(kick.element);
    row.update = (guest) => {
        row.guest = guest;
        updatePerson(guest, guest.isMe ? " (you)" : "");
        strength.update(guest.rssi);
        setShown(web, guest.isWeb);
        setText(time, typeof guest.roundTrip === "number" ? milliseconds(guest.roundTrip) : "");
        setShown(details, guest.isWeb || typeof guest.rssi === "number" || typeof guest.roundTrip === "number");
        const name = nameOf(guest);
        kick?.update({
            label: `${titles.host.kick} ${name}`, question: `Really kick ${name}?`,
            consequence: `${name} cannot join again in this session.`,
        });
    };
    return row;
}

/** Somebody's initials and name. */
export function personWords() {
    const face = make("span", "face", { "aria-hidden": "true" });
    const name = foreign("name");
    const addition = make("span");
    const text = make("div", "song-words", {}, make("p", "title", {}, name, addition));
    const update = (somebody, added) => {
        const known = nameOf(somebody);
        setText(face, initials(known));
        setStyle(face, "--hue", hue(somebody.id));
        setLongText(name, known, somebody.name);
        setText(addition, added);
    };
    return { person: make("div", "person", {}, face, text), update };
}
