// SPDX-License-Identifier: Apache-2.0

import { make, setAttribute, setShown } from "/dom.js";
import { icon, setIcon } from "/icons.js";
import { t } from "/language.js";
import { limits } from "/limits.js";

/** How loud a host plays. What is shown is what the finger has set, until it is gone for a while. */
export class Volume {
    #mark = icon("volume");
    #slider = make("input", "", { type: "range", min: "0", max: "100", step: "5", "aria-label": t`Volume` });
    #setAt = -Infinity;
    #timer = null;
    element = make("div", "volume", { hidden: true }, this.#mark, this.#slider);

    constructor(node) {
        this.node = node;
        this.#slider.addEventListener("input", () => this.#set());
    }

    update(view) {
        const isKnown = typeof view.volume === "number";
        setShown(this.element, isKnown);
        if (!isKnown || this.#timer !== null || performance.now() - this.#setAt < limits.landing) return;
        if (this.#slider.value !== String(view.volume)) this.#slider.value = String(view.volume);
        this.#show();
    }

    #show() {
        setIcon(this.#mark, this.#slider.value === "0" ? "mute" : "volume");
        setAttribute(this.#slider, "aria-valuetext", `${this.#slider.value} %`);
    }

    /** While it moves it is told now and then, and its end always. */
    #set() {
        this.#setAt = performance.now();
        this.#show();
        this.#timer ??= setTimeout(() => {
            this.#timer = null;
            this.node.command("volume", { percent: Number(this.#slider.value) });
        }, limits.volume);
    }
}
