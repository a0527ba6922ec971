// SPDX-License-Identifier: Apache-2.0

import { foreign, make, setAttribute, setShown, setText } from "/dom.js";
import { t } from "/language.js";
import { shown } from "/text.js";

/** How others join: the host's name, its PIN, and the door for browsers. */
export class Invitation {
    #name = foreign("large-heading");
    #pin = make("b", "pin");
    #pinLine = make("p", "", {}, "PIN ", this.#pin);
    #code = make("img", "qr", { alt: t`QR code of the address below`, width: 264, height: 264 });
    #address = make("p", "address");
    #web = make("div", "web-door", {}, make("p", "label", {}, t`With a phone, without an app`), this.#code,
        this.#address);
    #drawn = null;
    #drawings = 0;
    #noWeb = make("p", "hint", {}, t`Guests cannot join with a browser. To let them, start the host with --web-guests.`);

    constructor(panel) {
        const radio = make(
            "div", "invitation-words", {}, make("p", "label", {}, t`With RoadMesh, over Bluetooth`),
            make("p", "", {}, this.#name), make("p", "hint", {}, t`Guests in the car find it and join automatically.`),
            this.#pinLine);
        panel.append(make("div", "invitation", {}, radio, this.#web, this.#noWeb));
    }

    update(view) {
        const invitation = view.invitation ?? { name: view.me.name, pin: null, url: null, qr: null };
        setText(this.#name, shown(invitation.name, t`(no name)`));
        setText(this.#pin, invitation.pin ?? "");
        setShown(this.#pinLine, invitation.pin);
        setShown(this.#web, invitation.url);
        setShown(this.#noWeb, !invitation.url);
        setText(this.#address, invitation.url ?? "");
        setShown(this.#code, invitation.qr);
        if (!invitation.qr || this.#drawn === invitation.url) return;
        // The same name for another address: a number makes the browser ask again.
        this.#drawn = invitation.url;
        this.#drawings += 1;
        setAttribute(this.#code, "src", `${invitation.qr}?${this.#drawings}`);
    }
}
