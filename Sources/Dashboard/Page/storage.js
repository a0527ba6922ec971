// SPDX-License-Identifier: Apache-2.0

import { limits } from "/limits.js";

// The page's values in the browser's storage. If the browser stores nothing (a private window), they are in memory.

const memory = new Map();

/** The stored value of a name, or null. */
export function kept(name) {
    try {
        return JSON.parse(localStorage.getItem(`roadmesh.${name}`));
    } catch {
        return memory.get(name) ?? null;
    }
}

/** Stores a value. Null deletes it. */
export function keep(name, value) {
    memory.set(name, value);
    try {
        if (value === null) localStorage.removeItem(`roadmesh.${name}`);
        else localStorage.setItem(`roadmesh.${name}`, JSON.stringify(value));
    } catch {
        // The browser stores nothing. The value stays in memory.
    }
}

/** This browser's identity for hosts: 32 random bytes in hexadecimal, created once. */
export function ownKey() {
    const before = kept("key");
    if (typeof before === "string" && /^[0-9a-f]{64}$/.test(before)) return before;
    // crypto.subtle exists only with TLS.
    const bytes = crypto.getRandomValues(new Uint8Array(32));
    const key = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    keep("key", key);
    return key;
}

/** The name that this browser joined with before, or an empty text. */
export function ownName() {
    const name = kept("name");
    return typeof name === "string" ? name.slice(0, limits.name) : "";
}
