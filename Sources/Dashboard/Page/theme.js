// SPDX-License-Identifier: Apache-2.0

import { button, setButton } from "/controls.js";
import { t } from "/language.js";
import { limits } from "/limits.js";
import { keep, kept } from "/storage.js";

const night = document.getElementById("night");
const dark = matchMedia("(prefers-color-scheme: dark)");

/** Whether it is night by the clock at this hour. */
export const isNightHour = (hour) => hour >= limits.nightFrom || hour < limits.nightTo;

let isDriving = false;
let isDark = null;
let onChange = () => {};

/** What a tap has chosen; else what the system has, and while driving also what the clock says. */
function isNight() {
    const chosen = kept("look");
    if (chosen) return chosen === "night";
    return dark.matches || (isDriving && isNightHour(new Date().getHours()));
}

/** Shows the colours of now. It costs nothing to ask again. */
export function showColours(drives = isDriving) {
    isDriving = drives;
    if (isDark === isNight()) return;
    isDark = isNight();
    night.media = isDark ? "all" : "not all";
    onChange();
}

/** Dark by night and light by day, until a tap says otherwise. */
export function themeButton() {
    const element = button("quiet", "moon", "", () => {
        const chosen = isDark ? "day" : "night";
        // Who chooses what the system has goes with the system again.
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
