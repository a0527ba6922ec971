// SPDX-License-Identifier: Apache-2.0

/** The button texts of a host's page and of a guest's page. A test compares them with the table of commands. */
export const titles = {
    host: { add: "Add", end: "End", kick: "Kick", pause: "Pause", play: "Play", skip: "Skip" },
    guest: { leave: "Leave", skip: "Vote to skip", suggest: "Suggest" },
};
