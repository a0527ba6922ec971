// SPDX-License-Identifier: Apache-2.0

import { coHostNews } from "/cohost.js";
import { placeQuestion } from "/controls.js";
import { Dashboard } from "/dashboard.js";
import { setShown, setStyle } from "/dom.js";
import { Driving } from "/driving.js";
import { Header } from "/header.js";
import { holdUnderFingers, isHeld } from "/hold.js";
import { Join } from "/join.js";
import { followKeys } from "/keyboard.js";
import { t } from "/language.js";
import { LastView } from "/last.js";
import { limits } from "/limits.js";
import { learnNames } from "/names.js";
import { PageNode } from "/node.js";
import { Notices } from "/notices.js";
import { withKept } from "/outbox.js";
import { Refusals } from "/refusals.js";
import { keepShell } from "/shell.js";
import { keep, kept } from "/storage.js";
import { Stream } from "/stream.js";
import { showColours } from "/theme.js";
import { Undo } from "/undo.js";

// The page: it shows incoming views and sends taps. The variables below are its only state.

const part = (id) => document.getElementById(id);

let view = null;
let receivedAt = 0;
let dashboard = null;
let driving = null;
let ownNotices = [];
let ownNoticesMade = 0;
let isDrawn = true;
let drawnAt = -limits.drawing;
/** Whether the shown view is one that an earlier page saved. */
let isKept = false;
let mayShowKept = true;

const announce = (text) => (part("spoken").textContent = text);
const refusals = new Refusals(announce);
const undo = new Undo();
const last = new LastView();

const isLinked = (one) => ["connected", "hosting"].includes(one?.connection);

const stream = new Stream({
    view: (newest, isFirst) => {
        const isBack = isLinked(newest) && (isFirst || !isLinked(view));
        const news = isKept ? null : coHostNews(view, newest);
        [view, receivedAt] = [refusals.atSongs(newest), performance.now()];
        [isKept, mayShowKept] = [false, false];
        last.take(newest);
        learnNames(newest);
        undo.take(newest.undo);
        if (isBack) dashboard?.searchAgain();
        if (news) say(news.message, news.suggestion, limits.news, "coHost");
        node.landed();
        draw();
        node.flush();
    },
    refused: (refusal) => {
        mayShowKept = false;
        last.forget();
        showNoView();
        join.refused(refusal);
    },
    sentAway: () => last.forget(),
    changed: () => draw(),
});

const node = new PageNode({
    announce,
    changed: () => draw(),
    isOpen: () => stream.isOpen,
    left: () => view?.role === "webGuest" && keep("left", true),
    say: (message, suggestion) => say(message, suggestion),
});

/** Shows a message of the page itself for `dismissAfter` seconds. It replaces an earlier message with the same code. */
function say(message, suggestion = null, dismissAfter = limits.passingNotice, code = "page") {
    ownNoticesMade += 1;
    const notice = {
        id: `page ${ownNoticesMade}`, code, kind: "toast", critical: false, message, suggestion, button: null,
        dismissAfter,
    };
    const others = ownNotices.filter((one) => code === "page" || one.code !== code);
    ownNotices = [...others, notice].slice(-limits.ownToasts);
    draw();
}

const main = part("dashboard");
const drive = (isDriving) => {
    keep("driving", isDriving || null);
    draw();
};
const header = new Header(part("header-buttons"), () => drive(true));
const join = new Join(part("join"), () => stream.retry());
const notices = new Notices(part("banners"), part("toasts"), (notice) => {
    if (notice.code === "outOfReach") return stream.retry();
    if (notice.code === "ended") return returnToStart();
    if (notice.code !== "undo") return node.command("retry");
    undo.tapped();
    draw();
    return node.command("undo");
});

/** Shows the page without a view: no guest has joined from this browser, or the guest's session has ended. */
function showNoView() {
    [view, dashboard] = [null, null];
    header.showStranger();
    for (const one of [main, part("driving")]) setShown(one, false);
    document.body.classList.remove("driving");
    showColours(false);
    draw();
}

/** The tap with which a passenger joins again after the session has ended, if the driver allows it. */
function returnToStart() {
    stream.stop();
    showNoView();
    join.again();
}

/** The node's notices. Their buttons are commands, which an unreachable or ended node does not accept. */
function nodeNotices(takesCommands) {
    const told = (view?.notices ?? []).filter((notice) => !(view.wanted && notice.code === "hostNotFound"));
    return takesCommands ? [...told, ...undo.notices] : told.map((notice) => ({ ...notice, button: null }));
}

/** The page's own notices, when the node is out of reach or has ended. */
function pageNotices(isReachable) {
    if (view?.ended) {
        const isPassenger = view.role === "webGuest";
        const suggestion = isPassenger ? null : t`After a restart this page shows it again, or a code to scan.`;
        return [banner("ended", view.ended, suggestion, isPassenger ? t`Return to Start` : null)];
    }
    if (isReachable) return [];
    const suggestion = view?.role === "host" || !view
        ? t`Make sure that the host is on, and that this device is on its Wi-Fi.`
        : t`Your votes are saved, and sent when the connection is back. Make sure that Wi-Fi is on.`;
    return [banner("outOfReach", t`Trying to reconnect…`, suggestion, stream.trouble.offersRetry ? t`Retry` : null)];
}

const banner = (code, message, suggestion, button) =>
    ({ id: "page", code, kind: "banner", critical: true, message, suggestion, button, dismissAfter: null });

/** Draws once for all changes since the last time, when the screen is ready. */
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
    const isReachable = !stream.trouble.isTold && !isKept;
    const isOver = Boolean(view?.ended);
    const told = [...nodeNotices(isReachable && !isOver), ...ownNotices, ...pageNotices(isReachable)];
    notices.update(told);
    if (!view || isHeld()) return;
    if (dashboard?.role !== view.role) makeParts(view.role);
    // After the end of a session no song plays.
    const known = isOver ? { ...view, isPlaying: false } : view;
    const shownView = view.role === "host" ? known : withKept(known, node.taps);
    const isDriving = view.role === "host" && kept("driving") === true;
    for (const [one, isShown] of [[main, !isDriving], [part("driving"), isDriving]]) setShown(one, isShown);
    document.body.classList.toggle("driving", isDriving);
    showColours(isDriving);
    const state = {
        isStale: view.isStale || !isReachable || isOver, isReachable, isOver,
        isInTrouble: told.some((notice) => notice.critical),
    };
    header.update(shownView, isReachable);
    if (isDriving) driving.update(shownView, receivedAt, state);
    else dashboard.update(shownView, receivedAt, state);
    for (const one of [main, part("driving")]) one.dataset.version = view.version;
}

function makeParts(role) {
    dashboard = Object.assign(new Dashboard(main, role, node), { role });
    driving = role === "host" ? new Driving(part("driving"), node, () => drive(false)) : null;
    header.setRole(role, node);
    setShown(part("join"), false);
}

/** Shows the view that an earlier page saved, if no new view arrives. */
function showKept() {
    if (!mayShowKept || stream.isOpen || performance.now() < limits.unnoticed) return;
    mayShowKept = false;
    const found = last.read();
    if (!found) return;
    [view, receivedAt, isKept] = [found, performance.now(), true];
    draw();
}

holdUnderFingers(() => draw());

followKeys({
    toggle: () => {
        const mayPlay = view?.role === "host" && !view.ended && stream.isOpen && (view.nowPlaying || view.queue.length);
        if (mayPlay) node.command(view.isPlaying ? "pause" : "play");
        return mayPlay;
    },
    search: () => !main.hidden && dashboard?.openSearch(),
});

let shownTrouble = null;
setInterval(() => {
    const before = JSON.stringify(shownTrouble);
    shownTrouble = { ...stream.trouble, taps: node.taps.length };
    if (JSON.stringify(shownTrouble) !== before) draw();
    showKept();
    dashboard?.tick(performance.now());
    if (document.body.classList.contains("driving")) driving?.tick(performance.now());
    showColours();
    // A list may have been scrolled, or another list chosen.
    placeQuestion();
}, limits.tick);

// Toasts cover the end of a list. The list scrolls further by their height, so that every song stays reachable.
new ResizeObserver(([{ target }]) => setStyle(document.documentElement, "--toasts", `${target.offsetHeight}px`))
    .observe(part("toasts"));

stream.retry();
keepShell();
