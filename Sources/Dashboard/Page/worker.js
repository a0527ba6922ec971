// SPDX-License-Identifier: Apache-2.0

// Caches the page's files, so that the page opens while the node is out of reach. It asks the node first, because a
// restarted program may have a newer page. Requests about songs and people bypass the cache.

const name = "page";
const files = [
    "/", "/about.js", "/actions.js", "/app.js", "/choosing.js", "/cohost.js", "/commands.js", "/controls.js",
    "/copying.js", "/dashboard.js", "/de.json", "/dom.js", "/driving.css", "/driving.js", "/es.json", "/favourite.js",
    "/fr.json", "/fresh.js", "/guests.js", "/header.js", "/hold.js", "/hostrow.js", "/icon-180.png", "/icon-512.png",
    "/icon.svg", "/icons.js", "/invitation.js", "/join.js", "/keyboard.js", "/language.js", "/last.js", "/limits.js",
    "/lists.css", "/manifest.webmanifest", "/menu.js", "/names.js", "/night.css", "/node.js", "/notices.js",
    "/outbox.js", "/placing.js", "/playing.js", "/playlist.js", "/queue.js", "/reach.js", "/refusals.js",
    "/reorder.js", "/search.js", "/seek.js", "/shell.js", "/shelves.js", "/small.css", "/storage.js", "/stream.js",
    "/style.css", "/tabs.js", "/text.js", "/theme.js", "/tree.js", "/undo.js", "/volume.js",
];

/** Time for the node's answer, in milliseconds. The node is on this device. */
const patience = 4_000;

self.addEventListener("install", (event) => {
    self.skipWaiting();
    event.waitUntil(caches.open(name).then((cache) => cache.addAll(files)));
});

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
    const { pathname } = new URL(event.request.url);
    if (event.request.method === "GET" && files.includes(pathname)) event.respondWith(answered(event.request, pathname));
});

async function answered(request, pathname) {
    const cache = await caches.open(name);
    const kept = await cache.match(pathname);
    try {
        // Without a cached file, this waits for the node as long as necessary.
        const answer = await fetch(request, kept ? { signal: AbortSignal.timeout(patience) } : {});
        if (answer.ok && !answer.redirected) await cache.put(pathname, answer.clone());
        return answer;
    } catch (error) {
        if (kept) return kept;
        throw error;
    }
}
