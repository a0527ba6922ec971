// SPDX-License-Identifier: Apache-2.0

/**
 * Caches the page's files for a start while the node is out of reach. Browsers allow a service worker only on the
 * device itself and over HTTPS. docs/dashboard.md describes what works elsewhere.
 */
export async function keepShell() {
    if (!isSecureContext || !navigator.serviceWorker) return;
    const createScriptURL = (url) => url;
    const policy = globalThis.trustedTypes?.createPolicy("shell", { createScriptURL });
    try {
        await navigator.serviceWorker.register(policy ? policy.createScriptURL("/worker.js") : "/worker.js");
    } catch {
        // A private window has no service worker. The page works without it.
    }
}
