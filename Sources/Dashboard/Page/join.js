// SPDX-License-Identifier: Apache-2.0

import { make, setAttribute, setShown, setText } from "/dom.js";
import { t } from "/language.js";
import { limits } from "/limits.js";
import { keep, kept, ownKey, ownName } from "/storage.js";
import { refusalOf } from "/stream.js";

/** The form with which web guests join: they type a name. */
export class Join {
    #heading = make("h2", "large-heading", { id: "join-heading" });
    #hint = make("p", "hint");
    #input = make("input", "", {
        id: "name", name: "name", maxlength: limits.name, autocomplete: "nickname", required: true,
        enterkeyhint: "go", spellcheck: "false",
    });
    #pin = make("input", "", {
        id: "pin", name: "pin", inputmode: "numeric", pattern: "[0-9]{6}", maxlength: limits.pin, autocomplete: "off",
    });
    #pinField = make("div", "field", { hidden: true }, make("label", "label", { for: "pin" }, t`PIN on the host's screen`),
        this.#pin);
    #message = make("p", "form-message", { id: "join-message", role: "alert" });
    #submit = make("button", "main", { type: "submit" }, t`Join`);
    #fields = make("div", "fields", {}, make("label", "label", { for: "name" }, t`Your name`), this.#input,
        this.#pinField, this.#message, this.#submit);
    #isJoining = false;
    /** The invitation in the link that opened this page. It is used once and not stored. */
    #invitation = takeInvitation();

    /** `onJoined()` is called when the node has admitted this browser. */
    constructor(main, onJoined) {
        Object.assign(this, { main, onJoined });
        const form = make("form", "join", {}, this.#heading, this.#hint, this.#fields);
        setAttribute(this.#input, "aria-describedby", "join-message");
        this.#input.value = ownName();
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            keep("left", null);
            this.#join(this.#input.value.trim());
        });
        main.replaceChildren(form);
    }

    /**
     * The node does not know this browser, as `message` says. If the node has restarted since the browser joined, the
     * browser joins again automatically, unless the person has left.
     */
    refused({ message, reason }) {
        const name = ownName();
        const isShown = !this.main.hidden;
        const asksPIN = reason === "pin" && !this.#invitation;
        setShown(this.#pinField, asksPIN);
        if (reason === "token" && !this.#invitation) return this.#showCode(message);
        if (name && !kept("left") && !isShown && !asksPIN) return this.#join(name);
        this.#show(isShown ? message : "");
    }

    /** Opens the form. */
    open() {
        this.#show("");
    }

    /** A guest wants to rejoin after its session ended. One tap is enough if no PIN or name is needed. */
    again() {
        const name = ownName();
        if (!name) return this.open();
        this.#open(t`Join the music`, t`Vote on what plays next. Your name is shown to the others in the car.`, true);
        setText(this.#message, "");
        this.#join(name);
    }

    /** The browser's token is from an earlier session. A new code is needed, so the form for the name is hidden. */
    #showCode(message) {
        this.#open(t`Scan the code again`, message, false);
    }

    #open(heading, hint, hasForm) {
        setShown(this.main, true);
        setText(this.#heading, heading);
        setText(this.#hint, hint);
        setShown(this.#fields, hasForm);
    }

    #show(message) {
        const isNew = this.main.hidden;
        this.#open(t`Join the music`, t`Vote on what plays next. Your name is shown to the others in the car.`, true);
        setText(this.#message, message);
        setAttribute(this.#input, "aria-invalid", message ? "true" : null);
        if (isNew) this.#input.focus();
    }

    async #join(name) {
        if (this.#isJoining) return;
        if (!name) return this.#show(t`Type your name first.`);
        this.#isJoining = true;
        setAttribute(this.#submit, "aria-disabled", "true");
        try {
            const answer = await fetch("/api/join", {
                method: "POST", headers: { "Content-Type": "application/json" },
                body: JSON.stringify({ key: ownKey(), name, ...this.#proof }),
                signal: AbortSignal.timeout(limits.connecting),
            });
            if (!answer.ok) {
                const { message, reason } = await refusalOf(answer);
                return this.#fail(message, reason);
            }
            keep("name", name);
            this.#pin.value = "";
            this.#invitation = null;
            setShown(this.main, false);
            this.onJoined();
        } catch {
            this.#show(t`No connection. Make sure that Wi-Fi is on, then try again.`);
        } finally {
            this.#isJoining = false;
            setAttribute(this.#submit, "aria-disabled", null);
        }
    }

    /** The PIN or invitation with which this browser joins without a token. */
    get #proof() {
        if (this.#invitation) return { invitation: this.#invitation };
        return this.#pinField.hidden ? {} : { pin: this.#pin.value.trim() };
    }

    #fail(message, reason) {
        if (reason === "token") return this.#showCode(message);
        if (reason === "invitation") this.#invitation = null;
        if (reason === "pin" || reason === "invitation") {
            setShown(this.#pinField, true);
            this.#show(message);
            return this.#pin.focus();
        }
        return this.#show(message || t`You cannot join right now. Try again in a moment.`);
    }
}

/** Removes the invitation from the address bar, so that other people do not see it on the screen. */
function takeInvitation() {
    const invitation = new URLSearchParams(location.search).get("invitation");
    if (invitation) history.replaceState(null, "", "/");
    return invitation;
}
