// SPDX-License-Identifier: Apache-2.0

import { foreign, make, setAttribute, setLongText, setShown, setStyle, setText } from "/dom.js";
import { barsIcon, icon, setBars, setIcon } from "/icons.js";
import { t } from "/language.js";
import { limits } from "/limits.js";
import { bars, cut, decibels, hue, initials, titleOf, wishText } from "/text.js";

/** A button with an icon and a word. `control` is its name in its row. */
export function button(className, iconName, word, onTap, control = iconName) {
    const element = make("button", className, { type: "button", "data-control": control }, icon(iconName));
    const label = make("span", "word");
    setText(label, word);
    element.append(label);
    element.addEventListener("click", onTap);
    return element;
}

/**
 * Changes a button that `button` has made. `hint` is the tooltip. A button with only an icon shows its label as the
 * tooltip.
 */
export function setButton(element, iconName, word, label = word, hint = word ? null : label) {
    setIcon(element.firstChild, iconName);
    setText(element.lastChild, word);
    setAttribute(element, "aria-label", label === word ? null : label);
    setAttribute(element, "title", hint ? cut(hint, limits.hint) : null);
}

// Only one question is open at a time. A touch outside its button cancels it.
let asking = null;
let disarm = () => {};
addEventListener("pointerdown", (event) => {
    if (!asking?.contains(event.target)) disarm();
});

// The question and the consequence of the action, next to the button that asks.
const told = make("p", "question", { hidden: true });

function tell(text) {
    setText(told, text);
    setShown(told, true);
    document.body.append(told);
    placeQuestion();
}

/**
 * Call this after the page has changed. The question moves with its button, and disappears if the button is not usable.
 */
export function placeQuestion() {
    if (!asking) return;
    // A hidden or removed element has no rectangles.
    if (asking.disabled || !asking.getClientRects().length) return disarm();
    const { top, bottom, right } = asking.getBoundingClientRect();
    // Its right edge is that of the button. If the button is on the left, the question begins at the page's edge.
    const left = Math.max(limits.beside, right - told.offsetWidth);
    const hasRoom = bottom + told.offsetHeight + limits.beside < innerHeight;
    setStyle(told, "top", `${hasRoom ? bottom + limits.beside : top - limits.beside - told.offsetHeight}px`);
    setStyle(told, "left", `${left}px`);
}

/**
 * A button for an action that cannot be undone. The first tap asks, and the second tap acts. `words` are `{word, label,
 * question, consequence}` and may change later. `announce` reads the question to a person who does not see it.
 */
export function askingButton(className, iconName, words, announce, onYes) {
    let askedAt = null;
    const show = () => {
        const isAsking = askedAt !== null;
        const label = isAsking ? words.question : words.label;
        setButton(element, iconName, isAsking ? t`Really?` : words.word, label, label);
        element.classList.toggle("asking", isAsking);
    };
    const element = button(className, iconName, words.word, (event) => {
        if (askedAt === null) {
            disarm();
            // A shorter word must not move the buttons next to it under the finger.
            setStyle(element, "min-width", `${element.getBoundingClientRect().width}px`);
            askedAt = event.timeStamp;
            asking = element;
            const timer = setTimeout(() => disarm(), limits.question);
            disarm = () => {
                clearTimeout(timer);
                askedAt = null;
                asking = null;
                disarm = () => {};
                setShown(told, false);
                setStyle(element, "min-width", "");
                show();
            };
            show();
            const text = `${words.question} ${words.consequence} ${t`Tap again to confirm.`}`;
            announce(text);
            tell(text);
        } else if (event.timeStamp - askedAt > limits.bounce) {
            disarm();
            onYes();
        }
    });
    show();
    return { element, update: (changed) => (Object.assign(words, changed), show()) };
}

/** A song's cover. Without a cover, the initials of the title on a colour derived from it. */
export function cover(className) {
    const letters = make("span", "initials");
    const picture = make("img", "", { alt: "", decoding: "async", draggable: "false", hidden: true });
    picture.addEventListener("load", () => setShown(picture, true));
    picture.addEventListener("error", () => setShown(picture, false));
    const element = make("div", `cover ${className}`, { "aria-hidden": "true" }, letters, picture);
    let source = null;
    const update = (song) => {
        const title = titleOf(song);
        setText(letters, initials(title));
        setStyle(element, "--hue", hue(title + song.artist));
        if (source === song.art) return;
        source = song.art;
        setShown(picture, false);
        // Covers come only from this node, so any other address is ignored.
        if (/^\/art\//.test(source ?? "")) picture.src = source;
        else picture.removeAttribute("src");
    };
    return { element, update };
}

/** Title, in at most two lines, and below it artist and length. `words` contains the texts to show. */
export function songWords(titleTag) {
    const title = foreign();
    const artist = foreign();
    const titleLine = make(titleTag, "title", {}, title);
    const length = make("span");
    const artistLine = make("p", "artist", {}, artist, length);
    const update = (song, words) => {
        setLongText(title, titleOf(song), song.title);
        setLongText(artist, words.artist, song.artist);
        const rest = words.length ?? "";
        setText(length, words.artist && rest ? ` · ${rest}` : rest);
        setShown(artistLine, words.artist || rest);
    };
    return { titleLine, artistLine, update };
}

const wishIcons = { queued: "clock", sent: "sent", confirmed: "check", rejected: "cross" };

/** The state of a wish, as an icon and words. */
export function wishLine() {
    const mark = icon("clock");
    const words = foreign();
    const element = make("p", "wish", { hidden: true }, mark, words);
    const update = (wish) => {
        setShown(element, Boolean(wish));
        setAttribute(element, "data-state", wish?.state ?? null);
        if (!wish) return;
        setIcon(mark, wishIcons[wish.state] ?? "clock");
        setText(words, wishText(wish));
    };
    return { element, update };
}

/** The words instead of a signal, for a guest on a bearer without signal strength. */
function instead(bearer) {
    if (bearer === "lan") return t`in the network`;
    return bearer === "broker" ? t`through the broker` : null;
}

/** A signal's strength in bars and dBm, or the bearer's name. */
export function signal() {
    const drawn = barsIcon();
    const words = make("span");
    const element = make("span", "signal", { hidden: true }, drawn, words);
    const update = (rssi, bearer) => {
        const isKnown = typeof rssi === "number";
        const other = isKnown ? null : instead(bearer);
        setShown(element, isKnown || other !== null);
        setShown(drawn, isKnown);
        if (other !== null) setText(words, other);
        if (!isKnown) return;
        setBars(drawn, bars(rssi));
        setText(words, decibels(rssi));
    };
    return { element, update };
}
