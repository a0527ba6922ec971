// SPDX-License-Identifier: Apache-2.0

// Browsers may use the page's cached files without a request, so that the page opens while the node is away. This
// script uses the page's entity tag to check whether the node has a newer page. It depends on no other script.
(async () => {
    const name = "roadmesh.page";
    const answer = await fetch("/", { cache: "no-cache" });
    const tag = answer.headers.get("ETag");
    const before = localStorage.getItem(name);
    if (!answer.ok || !tag || tag === before) return;
    const files = performance.getEntriesByType("resource").map((entry) => new URL(entry.name).pathname);
    const ours = new Set(files.filter((path) => /^\/[a-z0-9-]+\.(js|css|json|svg)$/.test(path)));
    if (before) await Promise.all([...ours, "/"].map((path) => fetch(path, { cache: "reload" })));
    localStorage.setItem(name, tag);
    if (before) location.reload();
})().catch(() => {
    // The node is out of reach, or the browser stores nothing. The cached files are then at most as old as their cache
    // lifetime.
});
