// SPDX-License-Identifier: Apache-2.0

/** What stands on the buttons of a host's page and of a guest's: the table of commands, which a test compares. */
export const titles = {
    host: { add: "Add", end: "End", kick: "Kick", pause: "Pause", play: "Play", skip: "Skip" },
    guest: { leave: "Leave", skip: "Vote to skip", suggest: "Suggest" },
};
