// SPDX-License-Identifier: Apache-2.0

import { make, setAttribute, setShown } from "/dom.js";
import { t } from "/language.js";
import { limits } from "/limits.js";
import { clock } from "/text.js";

/** The progress of the song. A host's page has a slider instead, which sets the position. */
export class Seek {
    #bar = make("progress", "", { "aria-label": t`Progress of the song` });
    #slider = make("input", "seek", { type: "range", min: "0", step: "1", "aria-label": t`Place in the song` });
    #isHeld = false;
    #setAt = -Infinity;
    element;

    /** `shown(seconds)` shows a position while the finger still moves. */
    constructor(node, isHost, shown) {
        this.isHost = isHost;
        this.element = isHost ? this.#slider : this.#bar;
        this.#slider.addEventListener("input", () => {
            this.#isHeld = true;
            this.#describe();
            shown(Number(this.#slider.value));
        });
        this.#slider.addEventListener("change", () => {
            this.#isHeld = false;
            this.#setAt = performance.now();
            node.command("seek", { seconds: Number(this.#slider.value) });
        });
    }

    /** Whether the shown position is the position that the finger has chosen. */
    get isChosen() {
        return this.#isHeld || performance.now() - this.#setAt < limits.landing;
    }

    update(seconds, duration) {
        const isKnown = duration > 0;
        // A progress element without a value is animated, and a song of unknown length has no progress.
        setShown(this.element, isKnown);
        if (!isKnown) return;
        setAttribute(this.element, "max", String(Math.floor(duration)));
        const whole = String(Math.floor(seconds));
        if (!this.isHost) {
            setAttribute(this.#bar, "max", String(duration));
            setAttribute(this.#bar, "value", whole);
            setAttribute(this.#bar, "aria-valuetext", t`${clock(seconds)} of ${clock(duration)}`);
        } else if (!this.isChosen && this.#slider.value !== whole) {
            this.#slider.value = whole;
            this.#describe();
        }
    }

    #describe() {
        const { value, max } = this.#slider;
        setAttribute(this.#slider, "aria-valuetext", t`${clock(Number(value))} of ${clock(Number(max))}`);
    }
}
