// SPDX-License-Identifier: Apache-2.0

import { limits } from "/limits.js";

// Songs keep their places while a finger is on the screen: the tap is for what it was aimed at. A drag holds them longer.

const held = new Map();
let onRelease = () => {};

/** Whether nothing may move now. */
export const isHeld = () => held.size > 0;

/** Lets nothing move, for `longest` milliseconds at most. */
export function holdStill(reason, longest) {
    clearTimeout(held.get(reason));
    held.set(reason, setTimeout(() => letGo(reason), longest));
}

/** Lets it move again. */
export function letGo(reason) {
    if (!held.has(reason)) return;
    clearTimeout(held.get(reason));
    held.delete(reason);
    if (!isHeld()) onRelease();
}

/** Holds while a finger is down; `released` is called when nothing holds any more. */
export function holdUnderFingers(released) {
    onRelease = released;
    addEventListener("pointerdown", () => holdStill("touch", limits.hold));
    for (const event of ["pointerup", "pointercancel"]) {
        // After the click, which comes last.
        addEventListener(event, () => setTimeout(() => letGo("touch")));
    }
}
