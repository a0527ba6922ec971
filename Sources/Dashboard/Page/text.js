// SPDX-License-Identifier: Apache-2.0

import { locale, plural, t, told } from "/language.js";
import { limits } from "/limits.js";
import { learntName } from "/names.js";

// Formats values as text, without access to the page.

const number = new Intl.NumberFormat();
const twoDigits = new Intl.NumberFormat(undefined, { minimumIntegerDigits: 2, useGrouping: false });

/** The weakest signals, in dBm, for one to four bars: the same as in the terminal. */
const thresholds = [-90, -80, -70, -60];

/** A text from other people in a form that can be shown: never too long and never empty. */
export function shown(text, instead) {
    // Spaces and zero-width characters are not visible.
    if (typeof text !== "string" || /^[\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]*$/u.test(text)) return instead;
    return cut(text, limits.text);
}

/** A sentence for a person. The limit is much longer than any sentence, so sentences are not truncated. */
export const sentenceOf = (text) => (shown(text, "") && cut(text, limits.sentence));

/** At most `length` characters, and an ellipsis for the rest. Surrogate pairs are not split. */
export function cut(text, length) {
    if (text.length <= length) return text;
    return `${text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** A song's title as it is shown. */
export const titleOf = (song) => shown(song.title, t`(untitled)`);

/** A person's name as it is shown inside a sentence. */
export const nameOf = (person, instead = t`somebody`) => shown(person?.name ?? learntName(person?.id), instead);

/** A person's name as it is shown alone, or at the start of a sentence. */
export const nameFirst = (person) => nameOf(person, t`Somebody`);

/** The voters of a song, as many as one line can show. */
export const voterNames = (item) => item.voters.slice(0, 12).map((voter) => cut(nameOf(voter), 40)).join(", ");

/** A time in seconds since 1970, in the person's format. */
export const shortDate = (seconds) => new Date(seconds * 1_000).toLocaleString(locale, {
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
/** The number of relays on a route. */
export const hopsOf = (hops) => plural(hops, "{1} hop", "{1} hops");

/** How many guests a relay carries. Empty for other guests. */
export const relayText = (carries) => (carries ? plural(carries, "Relay for {1} guest", "Relay for {1} guests") : "");

/** For a host: how many guests are joined through relays, and the longest route. */
export function treeText(guests) {
    const behind = guests.filter((guest) => guest.hops > 0);
    const farthest = Math.max(0, ...behind.map((guest) => guest.hops));
    return t`${behind.length} of ${guestsOf(guests.length)} through relays, up to ${hopsOf(farthest)}`;
}

/** A signal in dBm, with a real minus sign. */
export const decibels = (rssi) => `${number.format(rssi).replace("-", "−")} dBm`;

/** A round-trip time. */
export const milliseconds = (time) => (time < 1 ? "<1 ms" : `${number.format(Math.round(time))} ms`);

/** Signal strength in bars, 0 to 4. */
export const bars = (rssi) => thresholds.filter((threshold) => rssi >= threshold).length;

/** One or two letters that represent a title. */
export function initials(title) {
    const words = title.slice(0, limits.text).match(/[\p{L}\p{N}]+/gu) ?? ["♪"];
    return words.slice(0, 2).map((word) => String.fromCodePoint(word.codePointAt(0)).toUpperCase()).join("");
}

/** A hue, in degrees, derived from a text. */
export function hue(text) {
    let hash = 7;
    for (const letter of text.slice(0, limits.text)) hash = (hash * 31 + letter.codePointAt(0)) % 3600;
    return hash % 360;
}

/** The position in the song at `now`, in seconds. `receivedAt` is the time when the view arrived, on the same clock. */
export function elapsed(view, receivedAt, now) {
    // Without sound the position does not advance.
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

/** The state of a wish in words. A rejection contains the host's reason. */
export function wishText(wish) {
    const words = wishWords[wish.kind]?.[wish.state]?.() ?? "";
    if (wish.state !== "rejected") return words;
    return sentenceOf(told(wish.sentence, wish.sentenceText)) || words;
}
