// SPDX-License-Identifier: Apache-2.0

import { button, setButton } from "/controls.js";
import { t } from "/language.js";
import { keep, kept } from "/storage.js";

const night = document.getElementById("night");
const dark = matchMedia("(prefers-color-scheme: dark)");

const isNight = () => (kept("look") ?? (dark.matches ? "night" : "day")) === "night";

/** Dark by night and light by day, as the system has it, until a tap says otherwise. */
export function themeButton() {
    const element = button("quiet", "moon", "", () => {
        const chosen = isNight() ? "day" : "night";
        // Who chooses what the system has goes with the system again.
        keep("look", (chosen === "night") === dark.matches ? null : chosen);
        show();
    });
    const show = () => {
        const isDark = isNight();
        night.media = isDark ? "all" : "not all";
        setButton(element, isDark ? "sun" : "moon", "", isDark ? t`Change to day colours` : t`Change to night colours`);
    };
    dark.addEventListener("change", show);
    show();
    return element;
}
