// SPDX-License-Identifier: Apache-2.0

import { make, setAttribute, setShown, setText } from "/dom.js";
import { t } from "/language.js";
import { limits } from "/limits.js";
import { keep, kept, ownKey, ownName } from "/storage.js";
import { refusalOf } from "/stream.js";

/** The door for web guests: a name, and they are in. */
export class Join {
    #heading = make("h2", "large-heading", { id: "join-heading" });
    #hint = make("p", "hint");
    #input = make("input", "", {
        id: "name", name: "name", maxlength: limits.name, autocomplete: "nickname", required: true,
        enterkeyhint: "go", spellcheck: "false",
    });
    #message = make("p", "form-message", { id: "join-message", role: "alert" });
    #submit = make("button", "main", { type: "submit" }, t`Join`);
    #fields = make("div", "fields", {}, make("label", "label", { for: "name" }, t`Your name`), this.#input,
        this.#message, this.#submit);
    #isJoining = false;

    /** `onJoined()` is told when the node has let this browser in. */
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
     * The node does not know this browser, and says so in `message`. Where it knew it before (it was restarted
     * since), this browser joins again by itself; where its person has left, it does not.
     */
    refused({ message, reason }) {
        const name = ownName();
        const isShown = !this.main.hidden;
        if (reason === "token") return this.#showCode(message);
        if (name && !kept("left") && !isShown) return this.#join(name);
        this.#show(isShown ? message : "");
    }

    /** A person wants to join. */
    open() {
        this.#show("");
    }

    /** The browser's code is of an earlier session: no name helps. */
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
                body: JSON.stringify({ key: ownKey(), name }), signal: AbortSignal.timeout(limits.connecting),
            });
            if (!answer.ok) {
                const { message, reason } = await refusalOf(answer);
                if (reason === "token") return this.#showCode(message);
                return this.#show(message || t`You cannot join right now. Try again in a moment.`);
            }
            keep("name", name);
            setShown(this.main, false);
            this.onJoined();
        } catch {
            this.#show(t`No connection. Make sure that Wi-Fi is on, then try again.`);
        } finally {
            this.#isJoining = false;
            setAttribute(this.#submit, "aria-disabled", null);
        }
    }
}
