// SPDX-License-Identifier: Apache-2.0

import { cut } from "/text.js";
import { limits } from "/limits.js";

// Creates and changes elements. Texts are never parsed as markup.

/** A new element with a class, attributes and children. A string child becomes text. */
export function make(tag, className = "", attributes = {}, ...children) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
    element.append(...children);
    return element;
}

/** Text from other people. It has its own writing direction, which does not affect the text around it. */
export const foreign = (className = "") => make("bdi", className, { dir: "auto" });

// Skips values that an element already has. This matters for a hundred songs that are drawn twenty times a second.
const told = new WeakMap();

function isNews(node, key, value) {
    let values = told.get(node);
    if (!values) told.set(node, (values = new Map()));
    if (values.get(key) === value) return false;
    values.set(key, value);
    return true;
}

/** Sets an element's text. */
export function setText(element, text) {
    if (isNews(element, "text", text)) element.textContent = text;
}

/** Sets an attribute. Null and false remove it, true sets it to an empty value. */
export function setAttribute(element, name, value) {
    if (!isNews(element, name, value)) return;
    if (value === null || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : value);
}

/** Adds or removes a class. */
export function setClass(element, name, isSet) {
    if (isNews(element, `.${name}`, isSet)) element.classList.toggle(name, isSet);
}

/** Shows or hides an element. */
export const setShown = (element, isShown) => setAttribute(element, "hidden", !isShown);

/** Sets a style property, because the page's Content-Security-Policy refuses a style attribute. */
export function setStyle(element, name, value) {
    if (isNews(element, `--${name}`, value)) element.style.setProperty(name, value);
}

/** Sets a text, with the full text as its tooltip. */
export function setLongText(element, text, whole) {
    setText(element, text);
    setAttribute(element, "title", whole ? cut(whole, limits.hint) : null);
}

/**
 * Makes the children of a list match `items`, by key. An element stays as long as its item does. The element with the
 * focus never moves, because moving it would remove the focus.
 */
export class KeyedList {
    #rows = new Map();

    /** `row(item)` creates `{element, update(item, index)}`. `parent` has no other children. */
    constructor(parent, keyOf, row) {
        Object.assign(this, { parent, keyOf, row });
    }

    update(items) {
        const wanted = new Map();
        for (const item of items) {
            const key = this.keyOf(item);
            if (!wanted.has(key)) wanted.set(key, item);
        }
        const left = this.#remove(wanted);
        const elements = [];
        for (const [key, item] of wanted) {
            if (!this.#rows.has(key)) this.#rows.set(key, this.row(item));
            const row = this.#rows.get(key);
            row.update(item, elements.length);
            elements.push(row.element);
        }
        this.#arrange(elements);
        if (left) focusNear(this.parent, elements[Math.min(left.index, elements.length - 1)], left.control);
    }

    #remove(wanted) {
        let left = null;
        for (const [key, { element }] of this.#rows) {
            if (wanted.has(key)) continue;
            if (element.contains(document.activeElement)) {
                const index = [...this.parent.children].indexOf(element);
                left = { index, control: document.activeElement.dataset.control };
            }
            element.remove();
            this.#rows.delete(key);
        }
        return left;
    }

    #arrange(elements) {
        const focused = elements.findIndex((element) => element.contains(document.activeElement));
        const pivot = Math.max(0, focused);
        if (focused < 0 && elements.length && this.parent.firstChild !== elements[0]) {
            this.parent.prepend(elements[0]);
        }
        for (let index = pivot - 1; index >= 0; index -= 1) {
            if (elements[index].nextSibling !== elements[index + 1]) elements[index + 1].before(elements[index]);
        }
        for (let index = pivot + 1; index < elements.length; index += 1) {
            if (elements[index].previousSibling !== elements[index - 1]) elements[index - 1].after(elements[index]);
        }
    }
}

// If the row with the focus is removed, a neighbouring row gets the focus, so that a person at the keyboard can
// continue there.
function focusNear(parent, element, control) {
    const neighbour = element?.querySelector(control ? `[data-control="${control}"]` : "button");
    (neighbour ?? parent.closest("[tabindex]"))?.focus({ preventScroll: true });
}
