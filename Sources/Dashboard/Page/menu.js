// SPDX-License-Identifier: Apache-2.0

import { foreign, make, setText } from "/dom.js";
import { t } from "/language.js";

/**
 * Opens a list of choices over the page: `choices` are pairs of a text and what it does. One tap chooses, and a tap beside
 * the list, Escape or Cancel closes it.
 */
export function openMenu(title, words, choices) {
    const heading = make("h2", "heading", { id: "menu-heading" }, foreign());
    setText(heading.firstChild, title);
    const text = make("p", "hint", { hidden: !words }, foreign());
    setText(text.firstChild, words);
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
    dialog.append(make("div", "menu-words", {}, heading, text, list, choice(t`Cancel`, () => {})));
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    return dialog;
}
