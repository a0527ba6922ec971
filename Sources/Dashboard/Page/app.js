// SPDX-License-Identifier: Apache-2.0

import { PageNode } from "/node.js";
import { placeQuestion } from "/controls.js";
import { Dashboard } from "/dashboard.js";
import { setShown, setStyle } from "/dom.js";
import { Header } from "/header.js";
import { Join } from "/join.js";
import { limits } from "/limits.js";
import { Notices } from "/notices.js";
import { withKept } from "/outbox.js";
import { Refusals } from "/refusals.js";
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
const refusals = new Refusals(announce);

const isLinked = (one) => ["connected", "hosting"].includes(one?.connection);

const stream = new Stream({
    view: (newest, isFirst) => {
        const isBack = isLinked(newest) && (isFirst || !isLinked(view));
        [view, receivedAt] = [refusals.atSongs(newest), performance.now()];
        if (isBack) dashboard?.searchAgain();
        node.landed();
        draw();
        node.flush();
    },
    refused: (refusal) => {
        showNoView();
        join.refused(refusal);
    },
    changed: () => draw(),
});

const node = new PageNode({
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
    if (notice.code === "outOfReach") stream.retry();
    else if (notice.code === "ended") returnToStart();
    else node.command("retry");
});

/** Nobody has joined from here, or not any more. */
function showNoView() {
    [view, dashboard] = [null, null];
    header.showStranger();
    setShown(main, false);
    draw();
}

/** A passenger whose session is over joins again where all passengers do. */
function returnToStart() {
    stream.stop();
    showNoView();
    join.open();
}

/** What the node has to tell. A button of it is a command, which a node that is away or has ended does not take. */
function nodeNotices(takesCommands) {
    const told = view?.notices ?? [];
    return takesCommands ? told : told.map((notice) => ({ ...notice, button: null }));
}

/** What the page itself has to tell: that its node is out of reach, or has ended. */
function pageNotices() {
    if (view?.ended) {
        return view.role === "webGuest"
            ? [banner("ended", view.ended, null, "Return to Start")]
            : [banner("ended", view.ended, "When it is started again, it is shown here, or what to scan.", null)];
    }
    const { isTold, offersRetry } = stream.trouble;
    if (!isTold) return [];
    const suggestion = view?.role === "host" || !view
        ? "Make sure that the head unit is on, and that this device is on its Wi-Fi."
        : "Your votes are kept and sent when the connection is back. Make sure that Wi-Fi is on.";
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
    placeQuestion();
}

function show() {
    const isReachable = !stream.trouble.isTold;
    const isOver = Boolean(view?.ended);
    notices.update([...nodeNotices(isReachable && !isOver), ...ownNotices, ...pageNotices()]);
    if (!view || isHeld) return;
    if (dashboard?.role !== view.role) {
        dashboard = Object.assign(new Dashboard(main, view.role, node), { role: view.role });
        header.setRole(view.role, node);
        setShown(main, true);
        setShown(part("join"), false);
    }
    // What is over does not play on.
    const known = isOver ? { ...view, isPlaying: false } : view;
    const shownView = view.role === "host" ? known : withKept(known, node.taps);
    header.update(shownView, isReachable);
    dashboard.update(shownView, receivedAt, { isStale: view.isStale || !isReachable || isOver, isReachable, isOver });
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
    shownTrouble = { ...stream.trouble, taps: node.taps.length };
    if (JSON.stringify(shownTrouble) !== before) draw();
    dashboard?.tick(performance.now());
    // A list may have been scrolled, or another one chosen.
    placeQuestion();
}, limits.tick);
let shownTrouble = null;

// What lies over the end of a list takes no song out of reach: the list scrolls on under it.
new ResizeObserver(([{ target }]) => setStyle(document.documentElement, "--toasts", `${target.offsetHeight}px`))
    .observe(part("toasts"));

stream.retry();
