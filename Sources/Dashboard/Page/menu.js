// SPDX-License-Identifier: Apache-2.0

import { foreign, make, setText } from "/dom.js";
import { t } from "/language.js";

/**
 * Opens a list of choices over the page. `words` is one text or several. `choices` are pairs of a text and an action.
 * One tap chooses. A tap outside the list, Escape, Cancel and Close close it.
 */
export function openMenu(title, words, choices) {
    const heading = make("h2", "heading", { id: "menu-heading" }, foreign());
    setText(heading.firstChild, title);
    const texts = [words].flat().filter(Boolean).map((text) => {
        const line = make("p", "hint", {}, foreign());
        setText(line.firstChild, text);
        return line;
    });
    const dialog = make("dialog", "menu", { "aria-labelledby": "menu-heading" });
    const choice = (word, act) => {
        const element = make("button", "choice", { type: "button" }, word);
        element.addEventListener("click", () => {
            dialog.close();
            act();
        });
        return element;
    };
    const list = make("div", "choices", {}, ...choices.map(([word, act]) => choice(word, act)));
    const close = choice(choices.length ? t`Cancel` : t`Close`, () => {});
    dialog.append(make("div", "menu-words", {}, heading, ...texts, ...(choices.length ? [list] : []), close));
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    return dialog;
}
