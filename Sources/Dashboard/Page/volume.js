// SPDX-License-Identifier: Apache-2.0

import { button, setButton } from "/controls.js";
import { make, setAttribute, setShown } from "/dom.js";
import { icon, setIcon } from "/icons.js";
import { t } from "/language.js";
import { limits } from "/limits.js";

/**
 * A host's volume and random order. A volume that a finger has set is shown until the node has had time to apply it.
 */
export class Volume {
    #mark = icon("volume");
    #slider = make("input", "", { type: "range", min: "0", max: "100", step: "5", "aria-label": t`Volume` });
    #setAt = -Infinity;
    #timer = null;
    #shuffle = button("quiet shuffle", "shuffle", "", () => {
        this.node.command("shuffle", { isOn: this.#shuffle.getAttribute("aria-pressed") !== "true" });
    }, "shuffle");
    element = make("div", "volume", { hidden: true }, this.#mark, this.#slider, this.#shuffle);

    constructor(node) {
        this.node = node;
        this.#slider.addEventListener("input", () => this.#set());
    }

    update(view) {
        const isKnown = typeof view.volume === "number";
        const knowsShuffle = typeof view.shuffle === "boolean";
        setShown(this.element, isKnown || knowsShuffle);
        for (const part of [this.#mark, this.#slider]) setShown(part, isKnown);
        setShown(this.#shuffle, knowsShuffle);
        setButton(this.#shuffle, "shuffle", "", t`Play in random order when the queue is empty`);
        setAttribute(this.#shuffle, "aria-pressed", String(Boolean(view.shuffle)));
        if (!isKnown || this.#timer !== null || performance.now() - this.#setAt < limits.landing) return;
        if (this.#slider.value !== String(view.volume)) this.#slider.value = String(view.volume);
        this.#show();
    }

    #show() {
        setIcon(this.#mark, this.#slider.value === "0" ? "mute" : "volume");
        setAttribute(this.#slider, "aria-valuetext", `${this.#slider.value} %`);
    }

    /** Sends the volume at intervals while the slider moves, and always its final value. */
    #set() {
        this.#setAt = performance.now();
        this.#show();
        this.#timer ??= setTimeout(() => {
            this.#timer = null;
            this.node.command("volume", { percent: Number(this.#slider.value) });
        }, limits.volume);
    }
}
