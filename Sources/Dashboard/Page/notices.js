// SPDX-License-Identifier: Apache-2.0

import { button, setButton } from "/controls.js";
import { foreign, KeyedList, make, setAttribute, setShown, setText } from "/dom.js";
import { icon, setIcon } from "/icons.js";
import { t, told } from "/language.js";
import { limits } from "/limits.js";
import { sentenceOf } from "/text.js";

/** Large headings of banners with a message that is too long to read at a glance. */
const headings = { connectionLost: t`Connection Lost`, hostNotFound: t`Host Not Found`, outOfReach: t`No Connection` };

/**
 * Decides which notices are shown: the newest banners, the newest permanent toasts, and always one toast that
 * disappears automatically. `notices` are oldest first.
 */
export function inView(notices, isDismissed) {
    const left = notices.filter((notice) => !isDismissed(notice));
    const toasts = left.filter((notice) => notice.kind !== "banner");
    const passing = toasts.filter((notice) => !notice.critical);
    const staying = toasts.filter((notice) => notice.critical);
    const kept = staying.slice(-(limits.toasts - Math.min(1, passing.length)));
    const passed = passing.slice(-(limits.toasts - kept.length));
    return {
        banners: left.filter((notice) => notice.kind === "banner").slice(-limits.banners),
        toasts: toasts.filter((notice) => kept.includes(notice) || passed.includes(notice)),
    };
}

const keyOf = (notice) => `${notice.id} ${notice.code}`;

/** Banners at the top and toasts at the bottom. Neither blocks the page behind it. */
export class Notices {
    #dismissed = new Set();
    #last = [];

    /** `onRetry(notice)` runs the action of a notice's button. */
    constructor(banners, toasts, onRetry) {
        const row = (kind) => () => noticeRow(kind, onRetry, (notice) => this.#dismiss(notice));
        this.banners = new KeyedList(banners, keyOf, row("banner"));
        this.toasts = new KeyedList(toasts, keyOf, row("toast"));
    }

    update(notices) {
        this.#last = notices;
        const present = new Set(notices.map(keyOf));
        for (const key of this.#dismissed) if (!present.has(key)) this.#dismissed.delete(key);
        const { banners, toasts } = inView(notices, (notice) => this.#dismissed.has(keyOf(notice)));
        this.banners.update(banners);
        this.toasts.update(toasts);
    }

    #dismiss(notice) {
        this.#dismissed.add(keyOf(notice));
        this.update(this.#last);
    }
}

function noticeRow(kind, onRetry, onDismiss) {
    const mark = icon("warning");
    const heading = make("p", "heading", {}, foreign());
    const message = make("p", "message", {}, foreign());
    const suggestion = make("p", "suggestion", {}, foreign());
    const row = { notice: null, timer: null };
    const action = make("button", "action", { type: "button", "data-control": "retry" });
    action.addEventListener("click", () => onRetry(row.notice));
    const close = button("quiet", "cross", "", () => onDismiss(row.notice), "close");
    setButton(close, "cross", "", t`Dismiss`);
    const text = make("div", "notice-words", {}, heading, message, suggestion);
    row.element = make("div", `notice ${kind}`, {}, mark, text, action, close);
    const pass = () => {
        // The toast is closed already, or a person reads it: a pointer over it or the focus in it keeps it open.
        if (!row.element.isConnected) return;
        if (row.element.matches(":hover, :focus-within")) row.timer = setTimeout(pass, limits.tick);
        else onDismiss(row.notice);
    };
    row.update = (notice) => {
        row.notice = notice;
        const large = kind === "banner" ? headings[notice.code] : null;
        setAttribute(row.element, "data-critical", String(notice.critical));
        setIcon(mark, notice.critical ? "warning" : "info");
        const what = sentenceOf(told(notice.message, notice.messageText));
        setText(heading.firstChild, large ?? what);
        setText(message.firstChild, large ? what : "");
        setShown(message, large);
        setText(suggestion.firstChild, sentenceOf(told(notice.suggestion, notice.suggestionText)));
        setShown(suggestion, notice.suggestion);
        setText(action, told(notice.button) ?? "");
        setShown(action, notice.button);
        setShown(close, !notice.critical);
        if (typeof notice.dismissAfter === "number") row.timer ??= setTimeout(pass, notice.dismissAfter * 1000);
    };
    return row;
}
