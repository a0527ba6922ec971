// SPDX-License-Identifier: Apache-2.0

import { limits } from "/limits.js";

// The page's language. A text is named by what it says in English, with {1}, {2}, … for what is put in; the tables have what
// it says in the others. A text that a table lacks is shown in English.

const others = ["de", "fr", "es"];

/** The first language of a person's that there is, or English. */
export function languageOf(wanted) {
    const spoken = wanted.map((tag) => String(tag).toLowerCase().split("-")[0]);
    return spoken.find((language) => language === "en" || others.includes(language)) ?? "en";
}

export const language = languageOf(navigator.languages ?? [navigator.language]);

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

/** Puts values in the places of a text. A number is written as the person writes numbers. */
function filled(text, values) {
    const written = (value) => (typeof value === "number" ? number.format(value) : String(value ?? ""));
    return text.replace(/\{(\d)\}/g, (place, index) => (index in values ? written(values[index]) : place));
}

const known = (key) => (Object.hasOwn(table, key) ? table[key] : key);

/**
 * A text in the person's language: t`Vote for ${title}`, or t("Connected") of what is not written here. It is written in
 * English, and a test holds every such text against the tables.
 */
export function t(text, ...values) {
    const key = typeof text === "string" ? text : text.raw.reduce((key, part, index) => `${key}{${index}}${part}`);
    return filled(known(key), ["", ...values]);
}

/** A number with its noun: the first text is for one, the other for every other number. */
export const plural = (count, one, many, ...more) => filled(known(count === 1 ? one : many), ["", count, ...more]);

/**
 * What the node says: in the person's language where it tells how the sentence is made (`{key, values}`, whose values may
 * be such sentences), else as it is.
 */
export function told(sentence, made = null) {
    if (!made) return typeof sentence === "string" ? t(sentence) : sentence;
    const values = made.values.map((value) => (typeof value === "object" && value ? told("", value) : value));
    return filled(known(made.key), ["", ...values]);
}

/** The two parts of a text around its one place, for what is an element. */
export const around = (text) => known(text).split("{1}");

document.documentElement.lang = language;
