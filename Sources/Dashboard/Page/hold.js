// SPDX-License-Identifier: Apache-2.0

import { limits } from "/limits.js";

// Songs keep their places while a finger is on the screen, so that a tap reaches its target. A drag holds them longer.

const held = new Map();
let onRelease = () => {};

/** Whether nothing may move now. */
export const isHeld = () => held.size > 0;

/** Holds everything still for at most `longest` milliseconds. */
export function holdStill(reason, longest) {
    clearTimeout(held.get(reason));
    held.set(reason, setTimeout(() => letGo(reason), longest));
}

/** Ends a hold. */
export function letGo(reason) {
    if (!held.has(reason)) return;
    clearTimeout(held.get(reason));
    held.delete(reason);
    if (!isHeld()) onRelease();
}

/** Holds while a finger is down. `released` is called when the last hold ends. */
export function holdUnderFingers(released) {
    onRelease = released;
    addEventListener("pointerdown", () => holdStill("touch", limits.hold));
    for (const event of ["pointerup", "pointercancel"]) {
        // The click comes last, so the hold ends after it.
        addEventListener(event, () => setTimeout(() => letGo("touch")));
    }
}
