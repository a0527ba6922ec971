// SPDX-License-Identifier: Apache-2.0

import { limits } from "/limits.js";

// What the browser keeps for this page. Where it keeps nothing (a private window), the page's own memory does.

const memory = new Map();

/** What was kept under a name, or null. */
export function kept(name) {
    try {
        return JSON.parse(localStorage.getItem(`roadmesh.${name}`));
    } catch {
        return memory.get(name) ?? null;
    }
}

/** Keeps a value; null forgets it. */
export function keep(name, value) {
    memory.set(name, value);
    try {
        if (value === null) localStorage.removeItem(`roadmesh.${name}`);
        else localStorage.setItem(`roadmesh.${name}`, JSON.stringify(value));
    } catch {
        // It is in memory.
    }
}

/** Who this browser is to a host: 32 random bytes in hexadecimal, made once. */
export function ownKey() {
    const before = kept("key");
    if (typeof before === "string" && /^[0-9a-f]{64}$/.test(before)) return before;
    // Not crypto.subtle, which there is only with TLS.
    const bytes = crypto.getRandomValues(new Uint8Array(32));
    const key = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    keep("key", key);
    return key;
}

/** The name under which this browser has joined before, or nothing. */
export function ownName() {
    const name = kept("name");
    return typeof name === "string" ? name.slice(0, limits.name) : "";
}
