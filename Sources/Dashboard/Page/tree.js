// SPDX-License-Identifier: Apache-2.0

import { foreign, make, setClass, setShown, setStyle, setText } from "/dom.js";
import { around, t } from "/language.js";
import { limits } from "/limits.js";
import { shown } from "/text.js";

// Draws the tree of links. The view lists each guest after the relay that it is joined through.

/** Whether the view shows the tree of the full session. A guest's own node knows only its own route. */
export const isTree = (view) => view.role !== "guest" && view.guests.some((guest) => guest.via);

/**
 * How each guest is drawn. `lines` has one entry per level: "on" if a relay's line continues to a later guest, else
 * "gap". The last entry is the guest's own branch: "tee" if the line continues, else "end". `isAbove` says whether
 * guests behind this guest follow. `isBelow` says whether the guest is drawn below its relay.
 */
export function branches(guests) {
    const depths = new Map();
    const rows = guests.map(({ id, via }) => {
        // If the relay is not above the guest in the list, the guest is drawn below the host.
        const above = via ? depths.get(via.id) : 0;
        const depth = Math.min((above ?? 0) + 1, limits.treeDepth);
        depths.set(id, depth);
        return { depth, lines: [], isAbove: false, isBelow: depth - 1 === above };
    });
    rows.forEach((row, index) => (row.isAbove = rows[index + 1]?.depth > row.depth));
    let goesOn = [];
    for (const row of [...rows].reverse()) {
        for (let level = 1; level < row.depth; level += 1) row.lines.push(goesOn[level] ? "on" : "gap");
        row.lines.push(goesOn[row.depth] ? "tee" : "end");
        goesOn = goesOn.slice(0, row.depth);
        goesOn[row.depth] = true;
    }
    return rows;
}

/** The lines in front of a guest. Screen readers ignore them: they read the relay's name. */
export function branchLines(row) {
    const element = make("span", "branches", { "aria-hidden": "true", hidden: true });
    let drawn = "";
    const update = ({ lines, isAbove }) => {
        setShown(element, lines.length);
        setStyle(row, "--depth", String(lines.length));
        setClass(row, "above", isAbove);
        if (drawn === lines.join()) return;
        drawn = lines.join();
        element.replaceChildren(...lines.map((line) => make("span", `branch ${line}`)));
    };
    return { element, update };
}

/** The relay that a guest is joined through, in words. */
export function through(className = "") {
    const name = foreign();
    const [before, after] = around("through {1}");
    const element = make("span", className, { hidden: true }, before, name, after);
    const update = (via, me) => {
        setShown(element, Boolean(via));
        if (via) setText(name, via.id === me ? t`you` : shown(via.name, t`relay ${via.id.slice(0, limits.head)}`));
    };
    return { element, update };
}
