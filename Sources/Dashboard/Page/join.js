// SPDX-License-Identifier: Apache-2.0

import { make, setAttribute, setShown, setText } from "/dom.js";
import { limits } from "/limits.js";
import { keep, kept, ownKey, ownName } from "/storage.js";
import { messageOf } from "/stream.js";

/** The door for web guests: a name, and they are in. */
export class Join {
    #input = make("input", "", {
        id: "name", name: "name", maxlength: limits.name, autocomplete: "nickname", required: true,
        enterkeyhint: "go", spellcheck: "false",
    });
    #message = make("p", "form-message", { id: "join-message", role: "alert" });
    #submit = make("button", "main", { type: "submit" }, "Join");
    #isJoining = false;

    /** `onJoined()` is told when the box has let this browser in. */
    constructor(main, onJoined) {
        Object.assign(this, { main, onJoined });
        const form = make("form", "join", {},
            make("h2", "large-heading", { id: "join-heading" }, "Join the music"),
            make("p", "hint", {}, "Vote on what plays next. Your name is shown to the others in the car."),
            make("label", "label", { for: "name" }, "Your name"), this.#input, this.#message, this.#submit);
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
     * The box does not know this browser, and says so in `message`. Where it knew it before (it was started anew
     * since), this browser joins again by itself; where its person has left, it does not.
     */
    refused(message) {
        const name = ownName();
        const isShown = !this.main.hidden;
        if (name && !kept("left") && !isShown) return this.#join(name, message);
        this.#show(isShown ? message : "");
    }

    #show(message) {
        const isNew = this.main.hidden;
        setShown(this.main, true);
        setText(this.#message, message);
        setAttribute(this.#input, "aria-invalid", message ? "true" : null);
        if (isNew) this.#input.focus();
    }

    async #join(name) {
        if (this.#isJoining) return;
        if (!name) return this.#show("Type a name first.");
        this.#isJoining = true;
        setAttribute(this.#submit, "aria-disabled", "true");
        try {
            const answer = await fetch("/api/join", {
                method: "POST", headers: { "Content-Type": "application/json" },
                body: JSON.stringify({ key: ownKey(), name }), signal: AbortSignal.timeout(limits.connecting),
            });
            if (!answer.ok) return this.#show(await messageOf(answer) || "The box does not let you in.");
            keep("name", name);
            setShown(this.main, false);
            this.onJoined();
        } catch {
            this.#show("The box is out of reach. Make sure that Wi-Fi is on, and try again.");
        } finally {
            this.#isJoining = false;
            setAttribute(this.#submit, "aria-disabled", null);
        }
    }
}
