// SPDX-License-Identifier: Apache-2.0

/**
 * Keeps the page's files for a start while the node is out of reach. Browsers have a service worker on the device itself
 * and over HTTPS only; docs/dashboard.md says what there is elsewhere.
 */
export async function keepShell() {
    if (!isSecureContext || !navigator.serviceWorker) return;
    const createScriptURL = (url) => url;
    const policy = globalThis.trustedTypes?.createPolicy("shell", { createScriptURL });
    try {
        await navigator.serviceWorker.register(policy ? policy.createScriptURL("/worker.js") : "/worker.js");
    } catch {
        // A private window has none. The page works without it.
    }
}
