// SPDX-License-Identifier: Apache-2.0

import { button, setButton } from "/controls.js";
import { setAttribute, setClass, setStyle } from "/dom.js";
import { holdStill, letGo } from "/hold.js";
import { t } from "/language.js";
import { limits } from "/limits.js";
import { titleOf } from "/text.js";

/**
 * The place where a row is dropped. `rows` are `{top, height}` of all rows, and row `index` was dragged by `offset`
 * pixels. It passes another row when its leading edge passes the middle of that row.
 */
export function placeOf(rows, index, offset) {
    const { top, height } = rows[index];
    const middle = (row) => row.top + row.height / 2;
    const above = rows.slice(0, index).filter((row) => top + offset < middle(row)).length;
    const below = rows.slice(index + 1).filter((row) => top + height + offset > middle(row)).length;
    return index - above + below;
}

/**
 * Reorders the rows of a list. A person drags a row's handle, or taps it and then the handle at the new place, or uses
 * the arrow keys.
 */
export class Reorder {
    #drag = null;
    #picked = null;
    #hasDragged = false;

    /** `onMove(item, position)` applies the move. */
    constructor(list, announce, onMove) {
        Object.assign(this, { list, announce, onMove });
    }

    /** The handle of a row. `row` has `{element, item, index}`. */
    grip(row) {
        const grip = button("quiet grip", "grip", "", () => this.#tap(row), "grip");
        row.grip = grip;
        grip.addEventListener("pointerdown", (event) => this.#press(event, row));
        grip.addEventListener("pointermove", (event) => this.#follow(event.clientY));
        grip.addEventListener("pointerup", () => this.#drop(true));
        grip.addEventListener("pointercancel", () => this.#drop(false));
        grip.addEventListener("keydown", (event) => this.#step(event, row));
        return grip;
    }

    /** Shows a row's place. */
    update(row) {
        const title = titleOf(row.item);
        const isPicked = this.#picked === row.item.id;
        const label = this.#label(title, row.index);
        setButton(row.grip, isPicked ? "cross" : "grip", String(row.index + 1), label, label);
        setAttribute(row.grip, "aria-pressed", String(isPicked));
        setClass(row.element, "picked", isPicked);
    }

    #label(title, index) {
        return t`Move ${title}, place ${index + 1} of ${this.list.children.length}`;
    }

    #tap(row) {
        if (this.#hasDragged) return;
        const picked = this.#picked;
        if (picked === null) {
            this.#pick(row);
            this.announce(t`Tap the number of the new place for ${titleOf(row.item)}.`);
        } else {
            this.#pick(null);
            if (picked !== row.item.id) this.onMove(picked, row.index);
        }
    }

    #pick(row) {
        this.#picked = row?.item.id ?? null;
        setClass(this.list, "picking", this.#picked !== null);
        this.onMove(null);
    }

    #step(event, row) {
        if (event.key === "Escape" && this.#picked !== null) return this.#pick(null);
        const last = this.list.children.length - 1;
        const place = { ArrowUp: row.index - 1, ArrowDown: row.index + 1, Home: 0, End: last }[event.key];
        if (place === undefined) return undefined;
        event.preventDefault();
        if (place < 0 || place > last || place === row.index) return undefined;
        this.onMove(row.item.id, place);
        return this.announce(t`${titleOf(row.item)} is at place ${place + 1}.`);
    }

    #press(event, row) {
        if (event.button !== 0 || row.grip.disabled) return;
        row.grip.setPointerCapture(event.pointerId);
        this.#drag = { row, from: event.clientY, isLifted: false };
    }

    #lift() {
        const { row } = this.#drag;
        holdStill("drag", limits.longestDrag);
        const rows = [...this.list.children];
        const panel = this.list.closest(".panel");
        const places = rows.map((one) => ({ top: one.offsetTop, height: one.offsetHeight }));
        Object.assign(this.#drag, {
            isLifted: true, rows, panel, places, index: rows.indexOf(row.element), scrolled: panel.scrollTop,
        });
        setClass(row.element, "dragged", true);
        this.#scroll();
    }

    #follow(y) {
        const drag = this.#drag;
        if (!drag) return;
        drag.y = y;
        if (!drag.isLifted && Math.abs(y - drag.from) >= limits.dragging) this.#lift();
        if (drag.isLifted) this.#show();
    }

    #show() {
        const { rows, places, index, row, y, from, panel, scrolled } = this.#drag;
        const offset = y - from + panel.scrollTop - scrolled;
        const place = placeOf(places, index, offset);
        this.#drag.place = place;
        const height = row.element.offsetHeight;
        rows.forEach((one, at) => {
            const shift = at > index && at <= place ? -height : at < index && at >= place ? height : 0;
            setStyle(one, "transform", at === index ? `translateY(${offset}px)` : shift ? `translateY(${shift}px)` : "");
        });
    }

    /** Scrolls the list while the finger is near its edges. */
    #scroll() {
        const drag = this.#drag;
        if (!drag?.isLifted) return;
        const { top, bottom } = drag.panel.getBoundingClientRect();
        const step = drag.y < top + limits.edge ? -limits.scrollStep : drag.y > bottom - limits.edge ? limits.scrollStep : 0;
        if (step) {
            drag.panel.scrollTop += step;
            this.#show();
        }
        requestAnimationFrame(() => this.#scroll());
    }

    #drop(isWanted) {
        const drag = this.#drag;
        this.#drag = null;
        if (!drag?.isLifted) return;
        for (const one of drag.rows) setStyle(one, "transform", "");
        setClass(drag.row.element, "dragged", false);
        // The click that follows a drag must be ignored.
        this.#hasDragged = true;
        setTimeout(() => (this.#hasDragged = false));
        if (isWanted && drag.place !== drag.index) this.onMove(drag.row.item.id, drag.place);
        letGo("drag");
    }
}
