// SPDX-License-Identifier: Apache-2.0

import { button, setButton } from "/controls.js";
import { copyButtons } from "/copying.js";
import { foreign, KeyedList, make, setAttribute, setClass, setShown, setText } from "/dom.js";
import { plural, t } from "/language.js";
import { shortDate, shown } from "/text.js";

/** The panel for people who want to join: the host's name, its PIN, the link for browsers, and invitations. */
export class Invitation {
    #name = foreign("large-heading");
    #pin = make("b", "pin");
    #pinLine = make("p", "", {}, "PIN ", this.#pin);
    #code = picture(t`QR code of the address below`);
    #address = make("p", "address");
    #wifiName = foreign();
    #wifiCode = picture(t`QR code that joins the Wi-Fi`);
    #wifi = make("div", "wifi", { hidden: true },
        make("p", "label", {}, t`First join the Wi-Fi`, " ", this.#wifiName), this.#wifiCode.element);
    #web = make("div", "web-door", {}, this.#wifi,
        make("div", "door", {}, make("p", "label", {}, t`With a phone, without an app`), this.#code.element, this.#address));
    #addressButtons = null;
    #noWeb = make("p", "hint", {}, t`Guests cannot join with a browser. To allow that, start the host with --web-guests.`);
    #given;

    constructor(panel, node) {
        this.#given = new Given(node);
        this.#addressButtons = make("div", "give", {}, ...copyButtons(node, () => this.#address.textContent));
        this.#web.lastChild.append(this.#addressButtons);
        const radio = make(
            "div", "invitation-words", {}, make("p", "label", {}, t`With RoadMesh, over Bluetooth`),
            make("p", "", {}, this.#name), make("p", "hint", {}, t`Guests in the car find it and join automatically.`),
            this.#pinLine, this.#given.element);
        // A person who has created an invitation wants to show it, so its full code is at the top.
        panel.append(this.#given.newest, make("div", "invitation", {}, radio, this.#web, this.#noWeb));
    }

    update(view) {
        const none = { name: view.me.name, pin: null, url: null, qr: null, open: [], wifi: null };
        const invitation = { ...none, ...view.invitation };
        setText(this.#name, shown(invitation.name, t`(no name)`));
        setText(this.#pin, invitation.pin ?? "");
        setShown(this.#pinLine, invitation.pin);
        setShown(this.#web, invitation.url);
        setShown(this.#noWeb, !invitation.url);
        setText(this.#address, invitation.url ?? "");
        this.#code.update(invitation.qr, invitation.url);
        setShown(this.#wifi, invitation.wifi);
        // A guest scans both codes in turn, so both are shown completely, next to each other.
        setClass(this.#web.parentElement, "two-codes", invitation.url && invitation.wifi);
        setText(this.#wifiName, shown(invitation.wifi?.name ?? "", ""));
        this.#wifiCode.update(invitation.wifi?.qr, invitation.wifi?.name);
        this.#given.update(invitation);
    }
}

/** Invitations that admit a guest without the PIN: the newest one in full, and the others below it. */
class Given {
    #one = button("plain", "invite", t`Invite one guest`, () => this.#make("once"), "inviteOne");
    #two = button("plain", "clock", t`Invite for 2 hours`, () => this.#make("2h"), "inviteTwo");
    #back = button("plain", "cross", t`Revoke all`, () => this.#make("none"), "takeBack");
    #words = make("p", "hint");
    #code = picture(t`QR code of the invitation below`);
    #text = make("p", "address");
    #count = make("p", "hint");
    #isAwaited = false;
    #list = make("ul", "others", { hidden: true });
    #shown = null;
    /** The newest invitation, and the others. */
    newest;

    constructor(node) {
        this.node = node;
        this.element = make("div", "give", {}, this.#one, this.#two);
        const revoke = button("plain", "cross", t`Revoke`, () => this.#revoke(this.#shown), "revoke");
        const buttons = make("div", "give", {}, ...copyButtons(node, () => textOf(this.#shown)), revoke);
        const words = make("div", "given-words", {}, this.#words, this.#text, buttons, this.#count, this.#back);
        this.newest = make(
            "div", "invitations", { hidden: true }, make("div", "given", {}, this.#code.element, words), this.#list);
        this.others = new KeyedList(this.#list, (one) => one.text, () => openRow(node, (one) => this.#revoke(one)));
    }

    #revoke(invitation) {
        return this.node.command("invite", { span: `none ${invitation.text}` });
    }

    update({ pin, open }) {
        setShown(this.element, pin || open.length);
        const [newest] = open;
        setShown(this.newest, Boolean(newest));
        if (!newest) return;
        const text = textOf(newest);
        const isNew = this.#text.textContent !== text;
        this.#shown = newest;
        setText(this.#words, purposeOf(newest));
        this.others.update(open.slice(1));
        setShown(this.#list, open.length > 1);
        for (const part of [this.#count, this.#back]) setShown(part, open.length > 1);
        setText(this.#text, text);
        this.#code.update(newest.qr, newest.text);
        setText(this.#count, plural(open.length, "{1} invitation is open.", "{1} invitations are open."));
        if (!isNew || !this.#isAwaited) return;
        // The button that created the invitation may be further down.
        this.#isAwaited = false;
        this.newest.scrollIntoView({ block: "start" });
    }

    #make(span) {
        this.#isAwaited = span !== "none";
        return this.node.command("invite", { span });
    }
}

/** The text to pass on: the invitation's link, or its code without a link. */
const textOf = ({ url, text }) => url ?? text;

/** The line that says who can use an invitation, and until when. */
function purposeOf({ once, until }) {
    const end = shortDate(until);
    return once ? t`For one guest, until ${end}` : t`For everybody who has it, until ${end}`;
}

/** One of the other open invitations. */
function openRow(node, revoke) {
    const words = make("p", "hint");
    const row = { invitation: null };
    const code = picture(t`QR code of this invitation`);
    const end = button("plain", "cross", t`Revoke`, () => revoke(row.invitation), "revoke");
    const buttons = make("div", "give", {}, ...copyButtons(node, () => textOf(row.invitation)), end);
    row.element = make("li", "open-invitation", {}, code.element, make("div", "given-words", {}, words, buttons));
    row.update = (invitation) => {
        row.invitation = invitation;
        setText(words, purposeOf(invitation));
        code.update(invitation.qr, invitation.text);
        setButton(end, "cross", t`Revoke`, t`Revoke the invitation ${purposeOf(invitation)}`);
    };
    return row;
}

/** A QR code. A tap shows it in full screen. */
function picture(label) {
    const image = make("img", "qr", { alt: label, width: 264, height: 264 });
    const name = t`${label}: show it on the whole screen`;
    const element = make("button", "picture", { type: "button", "aria-label": name, title: name }, image);
    element.addEventListener("click", () => showWhole(image));
    let drawn = null;
    let drawings = 0;
    const update = (address, what) => {
        setShown(element, Boolean(address));
        if (!address || drawn === what) return;
        // A new code has the same address. An added number makes the browser request the picture again.
        drawn = what;
        drawings += 1;
        setAttribute(image, "src", `${address}?${drawings}`);
    };
    return { element, update };
}

function showWhole(image) {
    const dialog = make("dialog", "whole", { "aria-label": image.alt }, make("img", "qr", { src: image.src, alt: image.alt }));
    dialog.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
}
