// SPDX-License-Identifier: Apache-2.0

import { language, plural, t, told } from "/language.js";
import { limits } from "/limits.js";
import { learntName } from "/names.js";

// How things are said. Nothing here touches the page.

const number = new Intl.NumberFormat();
const twoDigits = new Intl.NumberFormat(undefined, { minimumIntegerDigits: 2, useGrouping: false });

/** Weakest signals, in dBm, for one to four bars: those of the terminal. */
const thresholds = [-90, -80, -70, -60];

/** A text from elsewhere as it is shown: never without end, and never nothing. */
export function shown(text, instead) {
    // Spaces, and what has no width, are nothing to see.
    if (typeof text !== "string" || /^[\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]*$/u.test(text)) return instead;
    return cut(text, limits.text);
}

/** A sentence for a person, which is never cut: only what no sentence is has an end. */
export const sentenceOf = (text) => (shown(text, "") && cut(text, limits.sentence));

/** At most so many characters, and an ellipsis for the rest. No character is cut in two. */
export function cut(text, length) {
    if (text.length <= length) return text;
    return `${text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** A song's title as it is shown. */
export const titleOf = (song) => shown(song.title, t`(untitled)`);

/** A person's name as it is shown. */
export const nameOf = (person) => shown(person?.name ?? learntName(person?.id), t`somebody`);

/** Who has voted for a song, as far as a line goes. */
export const voterNames = (item) => item.voters.slice(0, 12).map((voter) => cut(nameOf(voter), 40)).join(", ");

/** A moment, in seconds since 1970, as a person says it. */
export const shortDate = (seconds) => new Date(seconds * 1_000).toLocaleString(language, {
    weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit",
});

/** Seconds as m:ss, or h:mm:ss. */
export function clock(seconds) {
    const whole = Math.max(0, Math.floor(seconds || 0));
    const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
    const rest = twoDigits.format(whole % 60);
    if (hours === 0) return `${number.format(minutes)}:${rest}`;
    return `${number.format(hours)}:${twoDigits.format(minutes)}:${rest}`;
}

// Numbers with their nouns.
export const votesOf = (count) => plural(count, "{1} vote", "{1} votes");
export const guestsOf = (count) => plural(count, "{1} guest", "{1} guests");
/** How many relays are on a way. */
export const hopsOf = (hops) => plural(hops, "{1} hop", "{1} hops");

/** How many guests are joined through a relay; nothing of somebody who is none, or of one with nobody behind it. */
export const relayText = (carries) => (carries ? plural(carries, "Relay for {1} guest", "Relay for {1} guests") : "");

/** Of a host: how many are joined through relays, and how far. */
export function treeText(guests) {
    const behind = guests.filter((guest) => guest.hops > 0);
    const farthest = Math.max(0, ...behind.map((guest) => guest.hops));
    return t`${behind.length} of ${guestsOf(guests.length)} through relays, up to ${hopsOf(farthest)}`;
}

/** A signal in dBm, with a real minus. */
export const decibels = (rssi) => `${number.format(rssi).replace("-", "−")} dBm`;

/** A round trip. */
export const milliseconds = (time) => (time < 1 ? "<1 ms" : `${number.format(Math.round(time))} ms`);

/** Signal strength in bars, none to four. */
export const bars = (rssi) => thresholds.filter((threshold) => rssi >= threshold).length;

/** One or two letters that stand for a title. */
export function initials(title) {
    const words = title.slice(0, limits.text).match(/[\p{L}\p{N}]+/gu) ?? ["♪"];
    return words.slice(0, 2).map((word) => String.fromCodePoint(word.codePointAt(0)).toUpperCase()).join("");
}

/** A hue, in degrees, that a text always has. */
export function hue(text) {
    let hash = 7;
    for (const letter of text.slice(0, limits.text)) hash = (hash * 31 + letter.codePointAt(0)) % 3600;
    return hash % 360;
}

/** For how long a song has played at `now`, in seconds; `receivedAt` is when the view came, on the same clock. */
export function elapsed(view, receivedAt, now) {
    // Without sound nothing plays.
    const since = view.isPlaying && view.sound !== false ? Math.max(0, now - receivedAt) / 1000 : 0;
    const duration = view.nowPlaying?.duration || Infinity;
    return Math.min(duration, Math.max(0, view.elapsed || 0) + since);
}

const wishWords = {
    vote: {
        queued: () => t`Vote waiting`, sent: () => t`Vote on its way`, confirmed: () => t`Vote counted`,
        rejected: () => t`Vote not counted.`,
    },
    takeBack: {
        queued: () => t`Taking back, waiting`, sent: () => t`Taking vote back`, confirmed: () => t`Vote taken back`,
        rejected: () => t`You had not voted.`,
    },
    suggest: {
        queued: () => t`Suggestion waiting`, sent: () => t`Suggestion on its way`, confirmed: () => t`Suggestion taken`,
        rejected: () => t`Not queued.`,
    },
};

/** What has become of a wish. A rejection has the host's reason in a sentence. */
export function wishText(wish) {
    const words = wishWords[wish.kind]?.[wish.state]?.() ?? "";
    if (wish.state !== "rejected") return words;
    return sentenceOf(told(wish.sentence, wish.sentenceText)) || words;
}
