# SPDX-License-Identifier: Apache-2.0
"""RoadMesh's promises after power cuts, compared with a story.

Two consecutive states of the host, as any box has shown them, may differ only by what people have done in between. This
also holds across a power cut: everything that was shown before it is there after it. Changes that were stored but not
shown may be there too, if a person has made them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator
from itertools import pairwise

from hour import GUESTS, HOST
from story import State, Story, Told

# The longest delay of output on a busy machine. It is used only to excuse a difference.
LAG = 1.0

VOTING = {"vote", "suggest"}


def broken(story: Story) -> list[str]:
    """All broken invariants, as sentences."""
    return [
        *story.contradictions,
        *_epochs(story),
        *_voters(story),
        *_changes(story),
        *_confirmations(story),
        *_resurrections(story),
        *_rejections(story),
    ]


def _epochs(story: Story) -> Iterator[str]:
    lives = sorted(story.epochs.items())
    for (life, epoch), (next_life, next_epoch) in pairwise(lives):
        if next_epoch <= epoch:
            yield f"the host's epoch was {epoch} in its life {life} and is {next_epoch} in life {next_life}"


def _voters(story: Story) -> Iterator[str]:
    for state in story.timeline:
        for song, voters in state.queue:
            if len(set(voters)) < len(voters):
                yield f"a guest has voted twice for {song} in {state.version}: {_names(story, voters)}"
        if len(set(state.songs)) < len(state.songs):
            yield f"a song is queued twice in {state.version}: {state.songs}"


# Two consecutive states.


def _changes(story: Story) -> Iterator[str]:
    skips, buttons = _Skips(story), _Buttons(story)
    taken_back: Counter[tuple[str, str]] = Counter()
    for before, after in pairwise(story.timeline):
        where = f"between {before.version}, shown by {before.shown_by}, and {after.version}, shown by {after.shown_by}"
        yield from (f"{finding} {where}" for finding in _change(story, before, after, skips, buttons, taken_back))


def _change(
    story: Story,
    before: State,
    after: State,
    skips: _Skips,
    buttons: _Buttons,
    taken_back: Counter[tuple[str, str]],
) -> Iterator[str]:
    skipped = yield from _playing(story, before, after, skips, buttons)
    for song in after.songs:
        if song not in before.voters and not any(story.said_by(guest, {"suggest"}, song, after.at) for guest in GUESTS):
            yield f"{song} is queued, and no guest has suggested it,"
        elif song in before.voters:
            yield from _votes(story, song, before, after, taken_back)
    # Votes move their own song; the others stay in order. If the host limits the songs of one guest in a row, other
    # songs may move too.
    unmoved = {song for song in before.songs if _same(before.voters[song], after.voters.get(song))}
    is_as_before = unmoved == set(before.songs) == set(after.songs)
    if not skipped and (is_as_before or not story.is_fair):
        old, new = ([song for song in state.songs if song in unmoved] for state in (before, after))
        if old != new:
            yield f"the order has changed from {old} to {new}"


def _playing(story: Story, before: State, after: State, skips: _Skips, buttons: _Buttons) -> Generator[str, None, int]:
    """Yields the faults. Returns the number of skipped songs."""
    gone = [song for song in before.songs if song not in after.voters]
    count = max(len(gone), int(before.playing != after.playing))
    if not skips.explain(count, before, after):
        yield f"{before.playing} has become {after.playing} and {gone} left the queuewithout that many skips,"
    elif before.playing != after.playing and after.playing not in gone and not _is_suggested(story, after):
        yield f"{after.playing} is played, which was not queued,"
    if before.is_playing != after.is_playing and not buttons.explain(before, after):
        yield f"playing was {before.is_playing} and is {after.is_playing}, and that button was not used,"
    return count


def _is_suggested(story: Story, state: State) -> bool:
    song = state.playing or ""
    return any(story.said_by(guest, {"suggest"}, song, state.at) for guest in GUESTS)


def _votes(story: Story, song: str, before: State, after: State, taken_back: Counter[tuple[str, str]]) -> Iterator[str]:
    old, new = set(before.voters[song]), set(after.voters[song])
    for guest, identifier in _guests(story):
        if identifier in old - new:
            taken_back[guest, song] += 1
            if len(story.said_by(guest, {"unvote"}, song, after.at)) < taken_back[guest, song]:
                yield f"{guest}'s vote for {song} is lost"
        if identifier in new - old and not story.said_by(guest, VOTING, song, after.at):
            yield f"{guest} has a vote for {song} and never gave it"
    if strangers := (new - old) - set(story.ids.values()):
        yield f"an unknown guest votes for {song}: {strangers}"


class _HeadUnit:
    """The lines that were typed at the host, and in which of its lives. A line that was lost in a power cut explains
    nothing later."""

    def __init__(self, story: Story, words: set[str]) -> None:
        self._said = [said for said in story.said if said.box == HOST and said.word in words]
        self._lives = {epoch: life for life, epoch in sorted(story.epochs.items(), reverse=True)}
        self._last_life = max((said.life for said in self._said), default=0)

    def _lives_of(self, before: State, after: State) -> range:
        # The last life may not have shown a state.
        first, last = self._lives.get(before.version.epoch, 0), self._lives.get(after.version.epoch, self._last_life)
        return range(first, last + 1)


class _Skips(_HeadUnit):
    def __init__(self, story: Story) -> None:
        super().__init__(story, {"skip"})
        self._seen: Counter[int] = Counter()

    def explain(self, count: int, before: State, after: State) -> bool:
        """Whether this many such lines were typed and had no visible effect yet."""
        for life in self._lives_of(before, after):
            given = sum(1 for said in self._said if said.life == life and said.at < after.at)
            used = min(count, given - self._seen[life])
            self._seen[life] += used
            count -= used
        return count == 0


class _Buttons(_HeadUnit):
    def __init__(self, story: Story) -> None:
        super().__init__(story, {"play", "pause", "skip"})
        self._next = 0

    def explain(self, before: State, after: State) -> bool:
        """Whether a typed line explains this change, after lines with earlier effects. Lines are handled in order."""
        lives = self._lives_of(before, after)
        for place in range(self._next, len(self._said)):
            said = self._said[place]
            if said.life in lives and said.at < after.at and (said.word != "pause") == after.is_playing:
                self._next = place + 1
                return True
        return False


# Results that guests have shown.


def _confirmations(story: Story) -> Iterator[str]:
    for told in story.told:
        if told.state != "confirmed":
            continue
        voters = told.seen.votes.get(told.song, ()) if told.seen else ()
        if (story.ids[told.guest] in voters) != (told.wish == "vote"):
            yield f"{told.guest} reports its {told.wish} for {told.song} as confirmed, and does not show it"


def _resurrections(story: Story) -> Iterator[str]:
    for told in story.told:
        if told.state != "confirmed" or told.wish != "takeBack" or not told.seen:
            continue
        wishes = story.said_by(told.guest, {"unvote"}, told.song, told.at)
        for state in story.timeline:
            if state.version > told.seen.version and story.ids[told.guest] in state.votes.get(told.song, ()):
                if not story.said_by(told.guest, VOTING, told.song, state.at, after=wishes[-1].at if wishes else 0.0):
                    yield f"{told.guest} has taken back its vote for {told.song}, and it is there in {state.version}"
                break


def _rejections(story: Story) -> Iterator[str]:
    for told in story.told:
        if told.state != "rejected" or told.wish != "vote":
            continue
        given = [said.at for said in story.said_by(told.guest, {"vote"}, told.song, told.at)]
        if not given:
            yield f"{told.guest} shows a rejected vote for {told.song} that it never gave"
        elif all(told.song in state.voters for state in _between(story, given[0], told.at)):
            yield f"{told.guest}'s vote for {told.song} is rejected ({told.reason}), and it was queued all the time"


def _between(story: Story, begin: float, end: float) -> list[State]:
    """The states that the host had at some time in between, and the ones before and after."""
    states = sorted(story.timeline, key=lambda state: state.at)
    first = max((place for place, state in enumerate(states) if state.at < begin), default=0)
    last = min((place for place, state in enumerate(states) if state.at > end + LAG), default=len(states) - 1)
    return states[first : last + 1]


def unanswered(story: Story) -> list[Told]:
    """The accepted wishes without a result for the person. A newer wish for the same song replaces the older one."""
    wishes: dict[tuple[str, str], Told] = {}
    for told in story.told:
        key = told.guest, told.song
        if told.state in ("confirmed", "rejected"):
            if key in wishes and wishes[key].wish == told.wish:
                del wishes[key]
        elif key not in wishes or wishes[key].wish != told.wish:
            wishes[key] = told
    return [told for told in wishes.values() if not _is_excused(story, told)]


def _is_excused(story: Story, told: Told) -> bool:
    """Whether the guest may have known the answer when it lost power, without time to show it. The host had given the
    answer by then, or had lost power before any box saw what it had done."""
    for death, box, _ in story.deaths:
        if box != told.guest or death < told.at:
            continue
        if _has_effect(story, told, [state for state in story.timeline if state.at < death + LAG]):
            return True
        if any(
            told.at < at < death + LAG and peer == story.ids[told.guest] and song == told.song
            for at, peer, song, _ in story.judged
        ):
            return True
        for host_death, other, life in story.deaths:
            after = [state for state in story.timeline if state.version.epoch == story.epochs.get(life + 1)]
            if other == HOST and told.at < host_death < death + LAG and _has_effect(story, told, after[:1]):
                return True
    return False


def _has_effect(story: Story, told: Told, states: list[State]) -> bool:
    if not states or states[-1].at < told.at:
        return False
    latest = states[-1]
    has_vote = story.ids[told.guest] in latest.voters.get(told.song, ())
    return told.song not in latest.voters or has_vote == (told.wish == "vote")


def _guests(story: Story) -> list[tuple[str, str]]:
    return [(guest, story.ids[guest]) for guest in GUESTS if guest in story.ids]


def _same(old: tuple[str, ...], new: tuple[str, ...] | None) -> bool:
    return new is not None and set(old) == set(new)


def _names(story: Story, identifiers: tuple[str, ...]) -> list[str]:
    names = {identifier: box for box, identifier in story.ids.items()}
    return [names.get(identifier, identifier) for identifier in identifiers]
