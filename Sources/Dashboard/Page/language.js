// SPDX-License-Identifier: Apache-2.0

import { limits } from "/limits.js";

// The page's language. The key of a text is its English form, with {1}, {2}, … for inserted values. The tables contain
// the translations. A text without a translation is shown in English.

const others = ["de", "fr", "es"];

/** The first of the person's languages that is supported, or English. */
export function languageOf(wanted) {
    const spoken = wanted.map((tag) => String(tag).toLowerCase().split("-")[0]);
    return spoken.find((language) => language === "en" || others.includes(language)) ?? "en";
}

export const language = languageOf(navigator.languages ?? [navigator.language]);

/** The language with the person's region, for dates: en-GB writes the day before the month. */
export const locale =
    (navigator.languages ?? []).find((tag) => tag.toLowerCase().split("-")[0] === language) ?? language;

const table = language === "en" ? {} : await loaded(`/${language}.json`);

async function loaded(path) {
    try {
        const answer = await fetch(path, { signal: AbortSignal.timeout(limits.connecting) });
        return answer.ok ? await answer.json() : {};
    } catch {
        return {};
    }
}

const number = new Intl.NumberFormat();

/** Inserts values into a text. Numbers use the format of the person's locale. */
function filled(text, values) {
    const written = (value) => (typeof value === "number" ? number.format(value) : String(value ?? ""));
    return text.replace(/\{(\d)\}/g, (place, index) => (index in values ? written(values[index]) : place));
}

const known = (key) => (Object.hasOwn(table, key) ? table[key] : key);

/**
 * A text in the person's language: t`Vote for ${title}`, or t("Connected") for a key from elsewhere. The key is
 * English. A test compares all keys with the tables.
 */
export function t(text, ...values) {
    const key = typeof text === "string" ? text : text.raw.reduce((key, part, index) => `${key}{${index}}${part}`);
    return filled(known(key), ["", ...values]);
}

/** A number with its noun. The first text is the singular. */
export const plural = (count, one, many, ...more) => filled(known(count === 1 ? one : many), ["", count, ...more]);

/**
 * A sentence of the node. It is translated if the node sends its parts: `{key, values}`, where a value may be a
 * sentence of the same form. Otherwise it is shown unchanged.
 */
export function told(sentence, made = null) {
    if (!made) return typeof sentence === "string" ? t(sentence) : sentence;
    const values = made.values.map((value) => (typeof value === "object" && value ? told("", value) : value));
    return filled(known(made.key), ["", ...values]);
}

/** The two parts of a text around its placeholder. The page puts an element in place of the placeholder. */
export const around = (text) => known(text).split("{1}");

document.documentElement.lang = language;
