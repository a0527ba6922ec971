// SPDX-License-Identifier: Apache-2.0

import { tellOnTap } from "/about.js";
import { button, cover, setButton, songWords } from "/controls.js";
import { foreign, make, setAttribute, setClass, setShown, setText } from "/dom.js";
import { icon } from "/icons.js";
import { around, t } from "/language.js";
import { limits } from "/limits.js";
import { clock, nameOf, shown, titleOf, voterNames, votesOf } from "/text.js";

/** A line with the name of the person who suggested a song. */
export function askedLine() {
    const asker = foreign();
    const [before, after] = around("{1} asked");
    const element = make("p", "asked", {}, before, asker, after);
    const update = (item) => {
        setText(asker, item.isAsked ? nameOf({ id: item.addedBy, name: item.addedByName }) : "");
        setShown(element, item.isAsked);
    };
    return { element, update };
}

/** A line that says that the driver has pinned a song. */
export function pinnedLine() {
    const element = make("p", "asked pinned", {}, icon("pin"), make("span", "", {}, t`Pinned by the driver`));
    return { element, update: (item) => setShown(element, Boolean(item.pinned)) };
}

/**
 * The button that removes a row's song. It ignores a tap if the row has just moved under the finger: the tap was meant
 * for another song.
 */
export function binOf(node, row) {
    let movedAt = -limits.settling;
    let timer = null;
    const element = button("quiet bin", "bin", "", () => {
        if (performance.now() - movedAt >= limits.settling) node.command("remove", { songID: row.item.id });
    }, "remove");
    const update = (item, index) => {
        setButton(element, "bin", "", t`Remove ${titleOf(item)}`);
        if (row.index === null || row.index === index) return;
        movedAt = performance.now();
        setClass(row.element, "settling", true);
        clearTimeout(timer);
        timer = setTimeout(() => setClass(row.element, "settling", false), limits.settling);
    };
    return { element, update };
}

/** A song of a host's queue, which can be dragged, played next, unpinned or removed. */
export function hostRow(node, reorder) {
    const row = { item: null, index: null };
    const art = cover("small");
    const words = songWords("p");
    const asked = askedLine();
    const voters = make("p", "unseen");
    const votes = make("p", "votes", {}, make("b"), make("span"));
    const unpin = button("quiet unpin", "pin", t`Unpin`, () => node.command("unpin", { songID: row.item.id }), "unpin");
    const text = make("div", "song-words", {}, words.titleLine, words.artistLine, asked.element, voters, unpin);
    const next = button("quiet next", "next", "", () => node.command("playNext", { songID: row.item.id }), "next");
    const bin = binOf(node, row);
    const grip = reorder.grip(row);
    for (const part of [text, votes]) tellOnTap(part, () => ({ item: row.item, hostID: row.item.hostID }));
    row.element = make("li", "song", {}, grip, art.element, text, votes, next, bin.element);
    row.update = (item, index) => {
        bin.update(item, index);
        Object.assign(row, { item, index });
        art.update(item);
        words.update(item, { artist: shown(item.artist, ""), length: item.duration ? clock(item.duration) : "" });
        asked.update(item);
        reorder.update(row);
        const [number, noun] = [String(item.votes), votesOf(item.votes)];
        setText(votes.firstChild, number);
        setText(votes.lastChild, noun.replace(number, ""));
        const names = item.votes ? t`Voted for by ${voterNames(item)}` : t`No votes yet`;
        setAttribute(votes, "title", names);
        setText(voters, item.votes ? names : "");
        setClass(votes, "none", !item.votes);
        setButton(unpin, "pin", t`Unpin`, t`Unpin ${titleOf(item)}`);
        setShown(unpin, Boolean(item.pinned));
        setButton(next, "next", "", t`Play ${titleOf(item)} next`);
        // The button's space stays, so that the other buttons do not move.
        setClass(next, "away", index === 0);
    };
    return row;
}
