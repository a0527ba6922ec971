// SPDX-License-Identifier: Apache-2.0

// Browsers may keep the page's files and ask nobody, so that the page opens while the node is away. Whether the node has another
// page meanwhile is asked here, in a script that needs no other: the entity tag of the page is another one then.
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
    // The node is away, or nothing can be kept here. Then the files are as old as they may be.
});
