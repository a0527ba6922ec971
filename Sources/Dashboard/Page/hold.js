// SPDX-License-Identifier: Apache-2.0

import { limits } from "/limits.js";

// Songs keep their places while a finger is on the screen, so that a tap reaches its target. A drag keeps them in place
// for longer.

const held = new Map();
let onRelease = () => {};

/** Whether songs must keep their places now. */
export const isHeld = () => held.size > 0;

/** Keeps songs in their places for at most `longest` milliseconds. */
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

/** Keeps songs in their places while a finger is down. `released` is called when the last hold ends. */
export function holdUnderFingers(released) {
    onRelease = released;
    addEventListener("pointerdown", () => holdStill("touch", limits.hold));
    for (const event of ["pointerup", "pointercancel"]) {
        // The click comes last, so the hold ends after it.
        addEventListener(event, () => setTimeout(() => letGo("touch")));
    }
}
