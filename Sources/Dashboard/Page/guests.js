// SPDX-License-Identifier: Apache-2.0

import { titles } from "/commands.js";
import { banButton, coHostButtons, moreButton } from "/actions.js";
import { askingButton, button, signal } from "/controls.js";
import { foreign, KeyedList, make, setClass, setLongText, setShown, setStyle, setText } from "/dom.js";
import { icon } from "/icons.js";
import { t } from "/language.js";
import { hopsOf, hue, initials, milliseconds, nameFirst, nameOf, relayText, shortDate, shown, treeText } from "/text.js";
import { branches, branchLines, isTree, through } from "/tree.js";

/** The guests and their signals. With relays it draws the tree of links below the host. A host can remove guests. */
export class Guests {
    #root = hostRow();
    #stale = make("p", "label", {}, icon("clock"), make("span", "", {}, t`Last known guests`));
    #list = make("ul", "people");
    #empty = make("p", "hint");
    #more = make("p", "hint");
    #outLabel = make("p", "label", { hidden: true }, t`Banned`);
    #out = make("ul", "people");

    constructor(panel, node, isHost) {
        this.isHost = isHost;
        panel.append(this.#stale, this.#list, this.#more, this.#empty, this.#outLabel, this.#out);
        this.outcasts = new KeyedList(this.#out, (ban) => ban.id, () => outcastRow(node));
        this.guests = new KeyedList(this.#list, (guest) => guest.id, () => guestRow(node, isHost));
    }

    update(view, isStale, isOver) {
        setShown(this.#stale, isStale && view.guests.length);
        const drawsTree = isTree(view);
        setClass(this.#list, "tree", drawsTree);
        this.#showRoot(drawsTree, view);
        const drawn = drawsTree ? branches(view.guests) : [];
        this.guests.update(view.guests.map((guest, index) => (
            { ...guest, me: view.me.id, steers: view.steers, drawn: drawn[index] ?? asList }
        )));
        setShown(this.#list, view.guests.length);
        setShown(this.#empty, !view.guests.length);
        setShown(this.#more, view.moreGuests);
        setText(this.#more, t`and ${view.moreGuests} more`);
        const words = this.isHost ? t`No guests yet. Guests in the car join automatically.` : t`No guests are here.`;
        const bans = view.bans ?? [];
        this.outcasts.update(bans);
        for (const part of [this.#outLabel, this.#out]) setShown(part, bans.length);
        setText(this.#empty, isOver ? t`No guests were here.` : words);
    }

    /** Shows the host's row above its guests in a tree, and hides it otherwise. */
    #showRoot(isDrawn, view) {
        const { element } = this.#root;
        if (!isDrawn) return element.remove();
        if (!element.isConnected) this.#list.before(element);
        return this.#root.update(view);
    }
}

function guestRow(node, isHost) {
    const { person, update: updatePerson } = personWords();
    const strength = signal();
    const time = make("span");
    const web = make("span", "signal", { hidden: true }, icon("web"), make("span", "", {}, t`Web`));
    const way = through();
    const hops = make("span");
    const carries = make("span");
    const relay = make("span", "signal", { hidden: true }, icon("relay"), carries);
    const driver = make("span", "signal", { hidden: true }, icon("wheel"), make("span", "", {}, t`Co-host`));
    const details = make("p", "details", {}, driver, strength.element, web, time, way.element, hops, relay);
    person.lastChild.append(details);
    const row = { guest: null, element: make("li", "person-row") };
    const drawn = branchLines(row.element);
    row.element.append(drawn.element, person);
    const words = { word: t(titles.host.kick), label: t(titles.host.kick) };
    const kick = askingButton("out", "leave", words, node.announce, () => node.command("kick", { peer: row.guest.id }));
    // Only the host makes co-hosts and bans guests.
    const [coHost, ...actions] = isHost ? [coHostButtons(node, row), banButton(node, row), moreButton(node, row)] : [];
    const parts = [...(coHost?.elements ?? []), kick.element, ...actions.map((one) => one.element)];
    row.element.append(make("div", "row-buttons", {}, ...parts));
    row.update = (guest) => {
        row.guest = guest;
        updatePerson(guest, guest.isMe ? ` ${t`(you)`}` : "");
        setShown(driver, guest.isDriver);
        coHost?.update(guest);
        for (const action of actions) action.update(guest);
        setShown(kick.element, isHost || (guest.steers && !guest.isMe && !guest.isDriver));
        strength.update(guest.rssi, guest.bearer);
        setShown(web, guest.isWeb);
        setText(time, typeof guest.roundTrip === "number" ? milliseconds(guest.roundTrip) : "");
        drawn.update(guest.drawn);
        way.update(guest.via, guest.me);
        // The tree shows the relay already.
        setClass(way.element, "unseen", guest.drawn.isBelow);
        setText(hops, guest.hops ? hopsOf(guest.hops) : "");
        setShown(hops, guest.hops);
        setText(carries, relayText(guest.carries));
        setShown(relay, guest.carries);
        setShown(time, time.textContent);
        setShown(details, [...details.children].some((detail) => !detail.hidden));
        const name = nameOf(guest);
        kick.update({
            label: t`Kick ${name}`, question: t`Really kick ${name}?`,
            consequence: t`${nameFirst(guest)} cannot join again in this session.` + (guest.carries ? ` ${others}` : ""),
        });
    };
    return row;
}

/** A banned guest, who can be unbanned. */
function outcastRow(node) {
    const { person, update: updatePerson } = personWords();
    const until = make("p", "details");
    person.lastChild.append(until);
    const row = { ban: null };
    const again = button("out", "check", t`Unban`, () => node.command("unban", { peer: row.ban.id }), "unban");
    row.element = make("li", "person-row", {}, person, again);
    row.update = (ban) => {
        row.ban = ban;
        updatePerson(ban, "");
        const end = ban.session ? t`until the session ends` : ban.until && t`until ${shortDate(ban.until)}`;
        setText(until, end || "");
        setShown(until, end);
    };
    return row;
}

const asList = { lines: [], isAbove: false, isBelow: false };
const others = t`Guests that are connected through it look for another route.`;

/** The host, at the root of the tree. */
function hostRow() {
    const name = foreign("name");
    const counts = make("p", "details");
    const words = make("div", "song-words", {}, make("p", "title", {}, name), counts);
    const face = make("span", "face", { "aria-hidden": "true" }, icon("onAir"));
    const element = make("div", "person-row above root", {}, make("div", "person", {}, face, words));
    const update = (view) => {
        const host = view.role === "host" ? view.me : view.host;
        setLongText(name, shown(host?.name, t`(no name)`), host?.name);
        setText(counts, treeText(view.guests));
    };
    return { element, update };
}

/** A person's initials and name. */
export function personWords() {
    const face = make("span", "face", { "aria-hidden": "true" });
    const name = foreign("name");
    const addition = make("span");
    const text = make("div", "song-words", {}, make("p", "title", {}, name, addition));
    const update = (somebody, added) => {
        const known = nameFirst(somebody);
        setText(face, initials(known));
        setStyle(face, "--hue", hue(somebody.id));
        setLongText(name, known, somebody.name);
        setText(addition, added);
    };
    return { person: make("div", "person", {}, face, text), update };
}
