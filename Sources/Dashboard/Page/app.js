// SPDX-License-Identifier: Apache-2.0

import { Box } from "/box.js";
import { Dashboard } from "/dashboard.js";
import { setShown, setStyle } from "/dom.js";
import { Header } from "/header.js";
import { Join } from "/join.js";
import { limits } from "/limits.js";
import { Notices } from "/notices.js";
import { withKept } from "/outbox.js";
import { keep } from "/storage.js";
import { Stream } from "/stream.js";

// The page: views come in and are shown, taps go out. All that it knows by itself is below.

const part = (id) => document.getElementById(id);

let view = null;
let receivedAt = 0;
let dashboard = null;
let ownNotices = [];
let ownNoticesMade = 0;
let isDrawn = true;
let drawnAt = -limits.drawing;
let isHeld = false;

const announce = (text) => (part("spoken").textContent = text);

const stream = new Stream({
    view: (newest) => {
        [view, receivedAt] = [newest, performance.now()];
        box.landed();
        draw();
        box.flush();
    },
    refused: (_, message) => {
        [view, dashboard] = [null, null];
        header.showStranger();
        setShown(main, false);
        join.refused(message);
        draw();
    },
    changed: () => draw(),
});

const box = new Box({
    announce,
    changed: () => draw(),
    isOpen: () => stream.isOpen,
    left: () => view?.role === "webGuest" && keep("left", true),
    say: (message, suggestion = null) => {
        ownNoticesMade += 1;
        const notice = {
            id: `page ${ownNoticesMade}`, code: "page", kind: "toast", critical: false, message, suggestion,
            button: null, dismissAfter: limits.passingNotice,
        };
        ownNotices = [...ownNotices, notice].slice(-limits.ownToasts);
        draw();
    },
});

const main = part("dashboard");
const header = new Header(part("header-buttons"));
const join = new Join(part("join"), () => stream.retry());
const notices = new Notices(part("banners"), part("toasts"), (notice) => {
    if (notice.code === "outOfReach" || notice.code === "ended") stream.retry();
    else box.command("retry");
});

/** What the page itself has to tell: that the box is out of reach, or has ended. */
function pageNotices() {
    if (view?.ended) {
        return [banner("ended", view.ended, "Return to Start looks for the box again.", "Return to Start")];
    }
    const { isTold, offersRetry } = stream.trouble;
    if (!isTold) return [];
    const suggestion = view?.role === "host" || !view
        ? "Make sure that it is on, and that this screen is in its Wi-Fi."
        : "What you vote is kept, and sent when it is back. Make sure that Wi-Fi is on.";
    return [banner("outOfReach", "Trying to reconnect…", suggestion, offersRetry ? "Retry" : null)];
}

const banner = (code, message, suggestion, button) =>
    ({ id: "page", code, kind: "banner", critical: true, message, suggestion, button, dismissAfter: null });

/** Draws once for all that has come since the last time, when the screen is ready for it. */
function draw() {
    if (!isDrawn) return;
    isDrawn = false;
    const pause = drawnAt + limits.drawing - performance.now();
    if (pause > 0) setTimeout(() => requestAnimationFrame(drawNow), pause);
    else requestAnimationFrame(drawNow);
}

function drawNow() {
    isDrawn = true;
    drawnAt = performance.now();
    show();
}

function show() {
    const isReachable = !stream.trouble.isTold;
    notices.update([...(view?.notices ?? []), ...ownNotices, ...pageNotices()]);
    if (!view || isHeld) return;
    if (dashboard?.role !== view.role) {
        dashboard = Object.assign(new Dashboard(main, view.role, box), { role: view.role });
        header.setRole(view.role, box);
        setShown(main, true);
        setShown(part("join"), false);
    }
    const shownView = view.role === "host" ? view : withKept(view, box.taps);
    header.update(shownView, isReachable);
    dashboard.update(shownView, receivedAt, view.isStale || !isReachable || Boolean(view.ended));
    main.dataset.version = view.version;
}

// Songs keep their places while a finger is on the screen: the tap is for what it was aimed at.
let holdTimer = null;
function release() {
    clearTimeout(holdTimer);
    // After the click, which comes last.
    setTimeout(() => {
        isHeld = false;
        draw();
    });
}
addEventListener("pointerdown", () => {
    isHeld = true;
    clearTimeout(holdTimer);
    holdTimer = setTimeout(release, limits.hold);
});
for (const event of ["pointerup", "pointercancel"]) addEventListener(event, release);

setInterval(() => {
    const before = JSON.stringify(shownTrouble);
    shownTrouble = { ...stream.trouble, taps: box.taps.length };
    if (JSON.stringify(shownTrouble) !== before) draw();
    dashboard?.tick(performance.now());
}, limits.tick);
let shownTrouble = null;

// What lies over the end of a list takes no song out of reach: the list scrolls on under it.
new ResizeObserver(([{ target }]) => setStyle(document.documentElement, "--toasts", `${target.offsetHeight}px`))
    .observe(part("toasts"));

stream.retry();
