// SPDX-License-Identifier: Apache-2.0

import { make, setAttribute, setShown, setText } from "/dom.js";
import { icon } from "/icons.js";
import { t } from "/language.js";

/** Lists in tabs, one of them shown. The arrow keys change the tab. */
export class Tabs {
    #tabs = [];

    /** `names` are `{id, icon, word}`. The first one is shown. */
    constructor(section, names) {
        const bar = make("div", "tabs", { role: "tablist", "aria-label": t`Lists` });
        for (const name of names) this.#tabs.push(this.#make(name));
        bar.append(...this.#tabs.map((one) => one.tab));
        bar.addEventListener("keydown", (event) => this.#step(event));
        section.replaceChildren(bar, ...this.#tabs.map((one) => one.panel));
        this.#select(this.#tabs[0]);
    }

    panel(id) {
        return this.#tabs.find((one) => one.id === id).panel;
    }

    /** Shows a list. */
    show(id) {
        this.#select(this.#tabs.find((one) => one.id === id));
    }

    /** Shows a number on a tab. */
    setCount(id, count) {
        const { number } = this.#tabs.find((one) => one.id === id);
        setText(number, count ? String(count) : "");
        setShown(number, count);
    }

    #make({ id, icon: iconName, word }) {
        const number = make("span", "count", { hidden: true });
        const tab = make("button", "tab", {
            type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}`,
        }, icon(iconName), make("span", "word", {}, word), number);
        const panel = make("div", "panel", {
            role: "tabpanel", id: `panel-${id}`, "aria-labelledby": `tab-${id}`, tabindex: "0", hidden: true,
        });
        const one = { id, tab, panel, number };
        tab.addEventListener("click", () => this.#select(one));
        return one;
    }

    #select(chosen) {
        for (const one of this.#tabs) {
            setShown(one.panel, one === chosen);
            setAttribute(one.tab, "aria-selected", String(one === chosen));
            setAttribute(one.tab, "tabindex", one === chosen ? "0" : "-1");
        }
    }

    #step(event) {
        const last = this.#tabs.length - 1;
        const index = this.#tabs.findIndex((one) => one.tab === document.activeElement);
        const next = {
            ArrowRight: index === last ? 0 : index + 1, ArrowLeft: index <= 0 ? last : index - 1, Home: 0, End: last,
        }[event.key];
        if (next === undefined || index < 0) return;
        event.preventDefault();
        this.#select(this.#tabs[next]);
        this.#tabs[next].tab.focus();
    }
}
