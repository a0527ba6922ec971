// SPDX-License-Identifier: Apache-2.0

// The page's icons, on a grid of 24 units. A path is stroked; a path that begins with "!" is filled.

const paths = {
    play: ["!M8 5.2v13.6a.8.8 0 0 0 1.2.7l11-6.8a.8.8 0 0 0 0-1.4l-11-6.8a.8.8 0 0 0-1.2.7z"],
    pause: ["!M7 5h3.2v14H7zM13.8 5H17v14h-3.2z"],
    skip: ["!M5 5.6v12.8a.8.8 0 0 0 1.2.7l9.6-6.4a.8.8 0 0 0 0-1.4L6.2 4.9a.8.8 0 0 0-1.2.7z", "!M17 5h2.6v14H17z"],
    previous: ["!M19 5.6v12.8a.8.8 0 0 1-1.2.7l-9.6-6.4a.8.8 0 0 1 0-1.4l9.6-6.4a.8.8 0 0 1 1.2.7z", "!M4.4 5H7v14H4.4z"],
    next: ["M5 4.5h14", "M12 20V9", "M7 13.5 12 8.5l5 5"],
    grip: ["M5 9h14", "M5 15h14"],
    wheel: ["M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17z", "!M12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z",
        "M3.8 11.5h6M14.2 11.5h6M12 14.5v6"],
    volume: ["!M4 9.5v5h3.5l4.5 4v-13l-4.5 4z", "M15.5 9a4.2 4.2 0 0 1 0 6", "M18 6.5a8 8 0 0 1 0 11"],
    mute: ["!M4 9.5v5h3.5l4.5 4v-13l-4.5 4z", "M16 9.5l5 5", "M21 9.5l-5 5"],
    vote: ["M12 19.5V5", "M5.5 11.5 12 5l6.5 6.5"],
    check: ["M5 12.5l4.6 4.6L19 7.5"],
    clock: ["M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17z", "M12 7.5V12l3 2"],
    sent: ["M4 12h14", "M12.5 6.5 18 12l-5.5 5.5", "M21 5v14"],
    cross: ["M6.5 6.5l11 11", "M17.5 6.5l-11 11"],
    plus: ["M12 5v14", "M5 12h14"],
    pin: ["M9 4h6l-.8 6.5 3.3 3.5H6.5L9.8 10.5z", "M12 14v6"],
    ban: ["M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17z", "M6 6l12 12"],
    back: ["M15 5l-7 7 7 7"],
    shuffle: ["M4 7h3.5l9 10H20", "M4 17h3.5l2.5-2.8M13.5 9.8 16.5 7H20", "M17.5 4.5 20 7l-2.5 2.5",
        "M17.5 14.5 20 17l-2.5 2.5"],
    quieter: ["!M3 9.5v5h3.5l4.5 4v-13l-4.5 4z", "M15 12h6"],
    louder: ["!M3 9.5v5h3.5l4.5 4v-13l-4.5 4z", "M15 12h6M18 9v6"],
    copy: ["M9 9h10v11H9z", "M15 9V4H5v11h4"],
    share: ["M12 15V4", "M7.5 8 12 3.5 16.5 8", "M5 13v7h14v-7"],
    bin: ["M5 7h14", "M9.5 7V4.5h5V7", "M7 7l.8 12.5h8.4L17 7"],
    person: ["M12 4a3.8 3.8 0 1 0 0 7.6A3.8 3.8 0 0 0 12 4z", "M4.8 20a7.2 7.2 0 0 1 14.4 0"],
    search: ["M10.8 4.5a6.3 6.3 0 1 0 0 12.6 6.3 6.3 0 0 0 0-12.6z", "M15.5 15.5 20 20"],
    queue: ["M4 6.5h16", "M4 12h16", "M4 17.5h9"],
    invite: ["M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4z", "M14 14h2.5v2.5", "M20 14v6h-6v-2"],
    sun: ["M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8z", "M12 2.5V5M12 19v2.5M2.5 12H5M19 12h2.5M5.3 5.3 7 7M17 17l1.7 1.7"
        + "M18.7 5.3 17 7M7 17l-1.7 1.7"],
    moon: ["M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10z"],
    leave: ["M10 4H5v16h5", "M14 8l4 4-4 4", "M9.5 12H18"],
    end: ["M12 3.5V12", "M7 6.4a8 8 0 1 0 10 0"],
    warning: ["M12 4 2.8 19.5h18.4z", "M12 10v4.5", "M12 17.2v.1"],
    info: ["M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17z", "M12 11v5.5", "M12 7.7v.1"],
    onAir: ["!M12 10a2 2 0 1 0 0 4 2 2 0 0 0 0-4z", "M7.8 16.2a6 6 0 0 1 0-8.4M16.2 7.8a6 6 0 0 1 0 8.4",
        "M5 19a10 10 0 0 1 0-14M19 5a10 10 0 0 1 0 14"],
    linked: ["M10 14l4-4", "M11.5 7.5 14 5a3.5 3.5 0 0 1 5 5l-2.5 2.5", "M12.5 16.5 10 19a3.5 3.5 0 0 1-5-5l2.5-2.5"],
    away: ["M4 20 20 4",
        "M7.8 16.2a6 6 0 0 1 0-8.4M16.2 7.8a6 6 0 0 1 0 8.4", "M5 19a10 10 0 0 1 0-14M19 5a10 10 0 0 1 0 14"],
    relay: ["!M5.5 9.7a2.3 2.3 0 1 0 0 4.6 2.3 2.3 0 0 0 0-4.6z", "!M18.5 3.7a2.3 2.3 0 1 0 0 4.6 2.3 2.3 0 0 0 0-4.6z",
        "!M18.5 15.7a2.3 2.3 0 1 0 0 4.6 2.3 2.3 0 0 0 0-4.6z", "M5.5 12H12M18.5 6H16a4 4 0 0 0-4 4v4a4 4 0 0 0 4 4h2.5"],
    web: ["M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17z", "M3.5 12h17", "M12 3.5c5 5 5 12 0 17c-5-5-5-12 0-17z"],
    more: ["!M5 10.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z", "!M12 10.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z",
        "!M19 10.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z"],
    note: ["M9 17.5V6l10-2v11.5",
        "M6.5 15a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z", "M16.5 13a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z"],
};

const svg = (tag, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
};

/** An icon. Screen readers ignore it: they read the text next to it, or the label of its button. */
export function icon(name) {
    const element = svg("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true", focusable: "false" });
    draw(element, name);
    return element;
}

/** Changes an icon. */
export function setIcon(element, name) {
    if (element.dataset.icon !== name) draw(element, name);
}

function draw(element, name) {
    element.dataset.icon = name;
    const drawn = paths[name].map((path) => {
        const isFilled = path.startsWith("!");
        return svg("path", { d: isFilled ? path.slice(1) : path, class: isFilled ? "filled" : "drawn" });
    });
    element.replaceChildren(...drawn);
}

/** Four signal bars. `setBars` fills some of them. */
export function barsIcon() {
    const element = svg("svg", { viewBox: "0 0 24 24", class: "icon bars", "aria-hidden": "true", focusable: "false" });
    for (const bar of [0, 1, 2, 3]) {
        const height = 5 + bar * 4.5;
        element.append(svg("rect", { x: 2 + bar * 5.4, y: 20.5 - height, width: 3.8, height, rx: 1.2 }));
    }
    return element;
}

/** Fills this many bars. */
export function setBars(element, count) {
    if (element.dataset.bars === String(count)) return;
    element.dataset.bars = count;
    [...element.children].forEach((bar, index) => bar.classList.toggle("full", index < count));
}
