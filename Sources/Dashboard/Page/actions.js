// SPDX-License-Identifier: Apache-2.0

import { askingButton, button, setButton } from "/controls.js";
import { openMenu } from "/menu.js";
import { setShown } from "/dom.js";
import { t } from "/language.js";
import { nameFirst, nameOf } from "/text.js";

// Actions of a host on a guest, apart from kicking it.

/**
 * The buttons that make a guest a co-host, after a question, and that end this role with one tap. `row` has `{guest}`.
 */
export function coHostButtons(node, row) {
    const words = { word: t`Make co-host`, label: t`Make co-host`, question: "", consequence: "" };
    const begin = askingButton(
        "out steers", "wheel", words, node.announce, () => node.command("driver", { peer: row.guest.id }));
    begin.element.dataset.control = "steers";
    const end = button(
        "out steers", "wheel", t`End co-host`, () => node.command("passenger", { peer: row.guest.id }), "steersNoMore");
    const update = (guest) => {
        const name = nameOf(guest);
        begin.update({
            label: t`Make ${name} a co-host`, question: t`Really make ${name} a co-host?`,
            consequence: t`${nameFirst(guest)} can skip, move and remove songs, and kick guests.`,
        });
        // A node of an earlier version does not send `isDriver`.
        setShown(begin.element, guest.isDriver === false);
        setShown(end, guest.isDriver === true);
    };
    return { elements: [begin.element, end], update };
}

/** A menu with all actions on a guest, because the tree has no room for the buttons. */
export function moreButton(node, row) {
    const element = button("out more-actions", "more", "", () => {
        const { guest } = row;
        const name = nameOf(guest);
        const coHost = guest.isDriver
            ? [t`End co-host`, () => node.command("passenger", { peer: guest.id })]
            : [t`Make ${name} a co-host`, () => node.command("driver", { peer: guest.id })];
        const kick = [t`Kick ${name}`, () => node.command("kick", { peer: guest.id })];
        openMenu(nameFirst(guest), "", [coHost, kick, [t`Ban ${name}`, () => chooseBan(node, guest)]]);
    }, "more");
    const update = (guest) => setButton(element, "more", "", t`What to do with ${nameOf(guest)}`);
    return { element, update };
}

/** Bans a guest for as long as the driver chooses. */
export function banButton(node, row) {
    const element = button("out ban", "ban", t`Ban`, () => chooseBan(node, row.guest), "ban");
    const update = (guest) => setButton(element, "ban", t`Ban`, t`Ban ${nameOf(guest)}`, t`Ban ${nameOf(guest)}`);
    return { element, update };
}

function chooseBan(node, guest) {
    const name = nameOf(guest);
    const ban = (span) => () => node.command("ban", { peer: guest.id, ...(span ? { span } : {}) });
    openMenu(t`Ban ${name}`, t`${nameFirst(guest)} leaves now and cannot join while the ban lasts.`, [
        [t`For 1 hour`, ban("1h")], [t`For 1 day`, ban("24h")], [t`For 1 week`, ban("7d")],
        [t`Until you unban ${name}`, ban(null)],
    ]);
}
