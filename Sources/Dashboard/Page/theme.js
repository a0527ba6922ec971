// SPDX-License-Identifier: Apache-2.0

import { button, setButton } from "/controls.js";
import { t } from "/language.js";
import { limits } from "/limits.js";
import { keep, kept } from "/storage.js";

const night = document.getElementById("night");
const dark = matchMedia("(prefers-color-scheme: dark)");

/** Whether it is night at this hour. */
export const isNightHour = (hour) => hour >= limits.nightFrom || hour < limits.nightTo;

let isDriving = false;
let isDark = null;
let onChange = () => {};

/**
 * The person's choice. Without one, night if the system prefers dark colours, and in the driving view also by the hour.
 */
function isNight() {
    const chosen = kept("look");
    if (chosen) return chosen === "night";
    return dark.matches || (isDriving && isNightHour(new Date().getHours()));
}

/** Applies the current colours. Repeated calls are cheap. */
export function showColours(drives = isDriving) {
    isDriving = drives;
    if (isDark === isNight()) return;
    isDark = isNight();
    night.media = isDark ? "all" : "not all";
    onChange();
}

/** A button that changes between day and night colours. Without a choice the system decides. */
export function themeButton() {
    const element = button("quiet", "moon", "", () => {
        const chosen = isDark ? "day" : "night";
        // A choice that equals the system's preference follows the system again.
        keep("look", (chosen === "night") === dark.matches ? null : chosen);
        showColours();
    });
    onChange = () => {
        setButton(element, isDark ? "sun" : "moon", "", isDark ? t`Change to day colours` : t`Change to night colours`);
    };
    dark.addEventListener("change", () => showColours());
    showColours();
    return element;
}
