// SPDX-License-Identifier: Apache-2.0

import { t } from "/language.js";

/** The message when the host makes this guest a co-host or ends this role: `{message, suggestion}`, or null. */
export function coHostNews(before, now) {
    const isSame = before && before.me.id === now.me.id && before.role === now.role && now.role !== "host";
    if (!isSame || Boolean(before.steers) === Boolean(now.steers)) return null;
    return now.steers
        ? { message: t`You are a co-host now.`, suggestion: t`You can skip, move and remove songs, and kick guests.` }
        : { message: t`You are no longer a co-host.`, suggestion: t`Your votes count as before.` };
}
