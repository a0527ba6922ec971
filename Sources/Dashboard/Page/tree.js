// SPDX-License-Identifier: Apache-2.0

import { foreign, make, setClass, setShown, setStyle, setText } from "/dom.js";
import { around, t } from "/language.js";
import { limits } from "/limits.js";
import { shown } from "/text.js";

// How it is drawn who hangs on whom. The view has each guest behind the relay that it is joined through.

/** Whether the view shows a tree of the whole session: a guest's own node knows no more than its own way. */
export const isTree = (view) => view.role !== "guest" && view.guests.some((guest) => guest.via);

/**
 * How each guest is drawn: `lines` has a word for each level, "on" where the line of a relay above goes on to a later guest,
 * "gap" where it does not, and last "tee" or "end", its own branch with more below it or without. `isAbove` says whether
 * others follow that hang on it, and `isBelow` whether it is drawn below what it hangs on.
 */
export function branches(guests) {
    const depths = new Map();
    const rows = guests.map(({ id, via }) => {
        // Who hangs on nobody that stands above it is drawn below the host.
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

/** What is drawn before somebody: nothing to a person who does not see it, who is told the same in words. */
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

/** The relay that somebody is joined through, in words. */
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
