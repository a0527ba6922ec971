// SPDX-License-Identifier: Apache-2.0

import { setClass } from "/dom.js";
import { t } from "/language.js";
import { limits } from "/limits.js";
import { openMenu } from "/menu.js";
import { nameOf, titleOf, votesOf } from "/text.js";

/** The lines of a song's menu: who suggested it and who voted for it. */
export function aboutLines(item, hostID) {
    const asker = item.addedBy && item.addedBy !== hostID ? nameOf({ id: item.addedBy, name: item.addedByName }) : null;
    const asked = asker ? t`Suggested by ${asker}` : t`Queued by the host`;
    if (!item.voters.length) return [asked, item.votes ? votesOf(item.votes) : t`No votes yet`];
    const names = item.voters.slice(0, limits.voters).map(nameOf).join(", ");
    const more = item.votes - Math.min(item.voters.length, limits.voters);
    return [asked, `${votesOf(item.votes)}: ${more > 0 ? `${names} ${t`and ${more} more`}` : names}`];
}

/** Opens a menu with these lines, and with `choices` of actions on the song. */
export function tellAbout(item, hostID, choices = []) {
    openMenu(titleOf(item), aboutLines(item, hostID), choices);
}

/** A tap on a song's text opens its menu. `current()` returns `{item, hostID}` or null. */
export function tellOnTap(element, current) {
    setClass(element, "tells", true);
    element.addEventListener("click", (event) => {
        const now = event.target.closest("button") ? null : current();
        if (now?.item) tellAbout(now.item, now.hostID);
    });
}
