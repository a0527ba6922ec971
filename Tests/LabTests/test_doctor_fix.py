"""`roadmesh doctor --fix` makes a box with Debian's settings as fast as it can be without a capability, after one
question. `--undo` restores every byte.

The boxes have no systemd and no sudo, and their disks store no capabilities. So root runs the command, and only
main.conf makes the box fast. The boxes' `systemctl` is a script that asks the test to restart bluetoothd, as the unit
would.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from helpers import START, Figures, await_joined, cast, hold, links_of, start_host
from runner import Box, Lab, Program
from test_bad_starts import DENYING_POLICY, NOBODY, denied
from test_doctor import doctor, told

# Where a box has its bluetoothd's file.
DEBIANS = "/etc/bluetooth/main.conf"
CONFIGURATION = "/run/bluetooth-main.conf"
JOURNAL = "/var/lib/roadmesh-doctor/changes.json"
TOOLS = "/run/tools"
RESTART = "/run/tools/restart"

SYSTEMCTL = f"""#!/bin/sh
case "$*" in
"is-enabled bluetooth") echo enabled ;;
"daemon-reload") ;;
"restart bluetooth")
    touch {RESTART}
    while [ -e {RESTART} ]; do sleep 0.05; done ;;
*)
    echo "unexpected: $*" >&2
    exit 1 ;;
esac
"""

# Waits for bluetoothd's name on the bus, as systemctl does for a unit with Type=dbus.
AWAIT_NAME = """
until dbus-send --system --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner \
    string:org.bluez | grep -q true; do sleep 0.02; done
"""

ENVIRONMENT = {"PATH": f"{TOOLS}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}

LINES = [
    "[General]",
    "ReverseServiceDiscovery=false",
    "[LE]",
    "MinAdvertisementInterval=32",
    "MaxAdvertisementInterval=48",
    "MinConnectionInterval=6",
    "MaxConnectionInterval=6",
    "ConnectionSupervisionTimeout=72",
]


def debians(lab: Lab) -> str:
    """The main.conf that comes with the boxes' bluetoothd."""
    return (lab.bluetoothd / "etc/main.conf").read_text()


def installed(lab: Lab, name: str, text: str | None = None, options: tuple[str, ...] = ()) -> Box:
    """A box with its own copy of Debian's main.conf, or of another, a systemctl, and a /var/lib that is writable as
    on a device."""
    box = lab.box(name, bluetoothd=options, main_conf=text or debians(lab))
    box.await_ready()
    # From here on the box uses its own file.
    box.main_conf, box.bluetoothd_options = None, (*options, "-f", CONFIGURATION)
    script = lab.folder / "systemctl"
    script.write_text(SYSTEMCTL)
    box.run(
        f"mkdir {TOOLS} && cp /run/lab/systemctl {TOOLS}/ && chmod 755 {TOOLS}/systemctl && "
        "mkdir -p /run/var/bluetooth && mount --bind /var/lib/bluetooth /run/var/bluetooth && "
        "mount --rbind /run/var /var/lib"
    )
    return box


@pytest.fixture(scope="module")
def head_unit(air_of_file: Lab) -> Iterator[Box]:
    yield installed(air_of_file, "headunit")


@pytest.fixture(scope="module")
def passenger(air_of_file: Lab) -> Iterator[Box]:
    yield installed(air_of_file, "passenger")


def digest(box: Box) -> str:
    """The file's bytes, mode and owner."""
    return box.run(f"sha256sum < {CONFIGURATION}; stat -c '%a %u %g' {CONFIGURATION}")


def restart_once(box: Box, *options: str) -> None:
    """Does what systemd would do for the one `systemctl restart bluetooth` that the program runs."""
    box.run(f"until [ -e {RESTART} ]; do sleep 0.05; done", timeout=START)
    box.stop_bluetoothd()
    box.start_bluetoothd(*options)
    box.run(AWAIT_NAME)
    box.run(f"rm {RESTART}")


def run_doctor(box: Box, *arguments: str, restarts: bool = True) -> Program:
    program = box.roadmesh("doctor", *arguments, "--yes", env=ENVIRONMENT)
    if restarts:
        restart_once(box)
    program.wait(START)
    return program


def plan(box: Box) -> list[str]:
    """The changes that the program plans."""
    program = box.roadmesh("doctor", "--fix", env=ENVIRONMENT)
    program.wait(START)
    return [one["title"] for one in program.seen("change", state="planned")]


def timing(box: Box) -> str:
    """The finding that a user without a capability sees."""
    [finding] = doctor(box, uid=1000).seen("finding", area="timing")
    return str(finding["message"])


def is_tuned(box: Box) -> bool:
    told = timing(box)
    return "advertises every 20 to 30 ms" in told and "links every 7.5 ms" in told


def quit(program: Program) -> None:
    program.say("quit")
    assert program.wait(START) == 0


def first_states(road: Lab, head_unit: Box, passenger: Box, count: int) -> list[float]:
    """Times from ready to the first state. Neither guests nor host may change the adapter."""
    host = start_host(head_unit, uid=1000)
    seconds = []
    for number in range(count):
        ana = passenger.roadmesh("guest", "Ana", name=f"ana-{number}", uid=1000)
        ready = ana.expect("ready", timeout=START)["_received"]
        seconds.append(ana.expect("snapshot", timeout=START)["_received"] - ready)
        quit(ana)
        hold(road, 0.5)
    # If a host is killed while it registers its advertisement, bluetoothd keeps the advertisement, and the next test
    # would count it.
    quit(host)
    return seconds


def test_one_command_and_one_question(road: Lab, head_unit: Box, figures: Figures) -> None:
    assert "every 1280 ms" in timing(head_unit)
    before = digest(head_unit)
    # `script` gives the program a terminal.
    command = f"{road.binary()} doctor --fix --radio bluez --adapter hci0 --state /run/state/asked"
    person = head_unit.spawn(["/usr/bin/script", "-qec", command, "/dev/null"], name="person", env=ENVIRONMENT)
    prompt = person.expect_prompt(r"Make these 2 changes\? \[y/N\]", timeout=START)
    assert prompt
    for line in LINES:
        assert line in person.output, person.output
    assert f"Add 6 lines to {CONFIGURATION}" in person.output
    assert "systemctl restart bluetooth" in person.output
    assert digest(head_unit) == before, "nothing is changed before the answer"
    person.say("y")
    restart_once(head_unit)
    person.expect_line("To undo the changes: sudo roadmesh doctor --undo", timeout=START)
    person.wait(START)
    # `script` exits with the program's exit code.
    assert person.exit_code == 0, person.output
    assert person.output.count("[y/N]") <= 1
    assert "advertises every 20 to 30 ms" in person.output and "links every 7.5 ms" in person.output
    assert is_tuned(head_unit)
    changed = head_unit.run(f"diff {DEBIANS} {CONFIGURATION}", check=False)
    added = [line[2:] for line in changed.splitlines() if line.startswith("> ")]
    assert added == [line for line in LINES if "=" in line] and "<" not in changed, changed
    assert head_unit.run(f"stat -c %a {JOURNAL} $(dirname {JOURNAL})").split() == ["600", "700"]


def test_two_boxes_that_were_fixed_have_the_tuned_figures(
    road: Lab, head_unit: Box, passenger: Box, figures: Figures
) -> None:
    fixed = run_doctor(passenger, "--fix")
    assert fixed.exit_code == 0, fixed.tail()
    assert [one["state"] for one in fixed.seen("change")] == ["planned", "planned", "made", "made"]
    assert is_tuned(passenger) and is_tuned(head_unit)
    states = first_states(road, head_unit, passenger, 7)
    figures.times("as fixed, without a capability: ready to first state", states, 0.7)
    host = start_host(head_unit, uid=1000)
    ana = passenger.roadmesh("guest", "Ana", name="ana-linked", uid=1000)
    await_joined(ana)
    [link] = links_of(road, head_unit.hci(0))
    assert (link["intervalMilliseconds"], link["timeoutMilliseconds"]) == (7.5, 720)
    cast(ana, "s2", seen_by=[ana])
    quit(ana)
    quit(host)


def test_a_host_in_a_fixed_box_advertises_every_20_to_30_ms(road: Lab, head_unit: Box, figures: Figures) -> None:
    start_host(head_unit, uid=1000)
    name = head_unit.hci(0).name
    hold(road, 1)
    first = road.air.counters()[name]["advertisingEvents"]
    hold(road, 4)
    interval = 4 / (road.air.counters()[name]["advertisingEvents"] - first) * 1e3
    figures.note(f"as fixed, without a capability: an advertisement every {interval:.0f} ms, its random delay included")
    # The controller adds a random delay of up to 10 ms to each interval (Volume 6, Part B, 4.4.2.2.1).
    assert 20 <= interval <= 42


def test_a_second_run_has_nothing_to_change(road: Lab, head_unit: Box) -> None:
    before = digest(head_unit)
    again = run_doctor(head_unit, "--fix", restarts=False)
    assert not again.seen("change") and told(again, "broken") == [], again.output
    assert again.seen("leftAlone"), "the capabilities, which this disk does not keep"
    assert digest(head_unit) == before


def test_undo_leaves_the_files_byte_for_byte_as_they_were(road: Lab, head_unit: Box, passenger: Box) -> None:
    for box in (head_unit, passenger):
        undone = run_doctor(box, "--undo")
        assert undone.exit_code == 0, undone.tail()
        assert [one["state"] for one in undone.seen("change")][-2:] == ["takenBack", "made"]
        box.run(f"cmp {DEBIANS} {CONFIGURATION}")
        assert box.run(f"stat -c '%a %u' {CONFIGURATION}").split() == ["644", "0"]
        box.run(f"test ! -e $(dirname {JOURNAL}) && test $(ls -A /run | grep -c roadmesh-new) = 0")
        assert not run_doctor(box, "--undo", restarts=False).seen("change")
        # bluetoothd leaves the values that it has set in the kernel, so undo must reset them.
        assert "every 1280 ms" in timing(box) and "every 30 to 50 ms" in timing(box)


def test_who_is_not_root_is_told_what_to_type_before_any_question(road: Lab, head_unit: Box) -> None:
    before = digest(head_unit)
    asked = head_unit.roadmesh("doctor", "--fix", "--yes", uid=1000, env=ENVIRONMENT, name="not-root")
    assert asked.wait(START) == 77
    assert asked.seen("change", state="planned") and not asked.seen("change", state="made")
    assert "sudo roadmesh doctor --fix" in "\n".join(line.text for line in asked.lines if line.stream == "err")
    assert digest(head_unit) == before


def test_without_a_terminal_nothing_is_changed_unasked(road: Lab, head_unit: Box) -> None:
    before = digest(head_unit)
    command = [str(road.binary()), "doctor", "--fix", "--radio", "bluez", "--state", "/run/state/unasked"]
    unasked = head_unit.spawn(command, name="unasked", env=ENVIRONMENT)
    assert unasked.wait(START) == 64
    assert "Add 6 lines" in unasked.output
    assert "--yes" in "\n".join(line.text for line in unasked.lines if line.stream == "err")
    # For scripts this is a plan, not an error.
    planned = head_unit.roadmesh("doctor", "--fix", env=ENVIRONMENT, name="planned")
    assert planned.wait(START) == 0
    assert [one["state"] for one in planned.seen("change")] == ["planned", "planned"]
    assert digest(head_unit) == before
    head_unit.run(f"test ! -e {JOURNAL}")


def test_an_adapter_that_is_off_is_switched_on_and_off_again(road: Lab) -> None:
    # Nothing else is left to do: bluetoothd switches adapters on when it starts.
    text = debians(road).replace("#ReverseServiceDiscovery = true", "ReverseServiceDiscovery = false")
    box = installed(road, "off", text)
    box.ask("power", controller=0, on=False)
    box.run("while hciconfig hci0 | grep -q UP; do sleep 0.02; done")
    fixed = run_doctor(box, "--fix", restarts=any("Restart" in one for one in plan(box)))
    assert "Switch hci0 on" in [one["title"] for one in fixed.seen("change", state="made")], fixed.output
    assert "UP" in box.run("hciconfig hci0")
    assert told(fixed, "broken") == ["adapterOff"], "before, and not after"
    run_doctor(box, "--undo", restarts=False)
    box.run("while hciconfig hci0 | grep -q UP; do sleep 0.02; done")
    box.power_off()


def test_what_a_person_has_set_stays(road: Lab) -> None:
    text = debians(road).replace("#MinConnectionInterval=\n", "MinConnectionInterval=24\n")
    box = installed(road, "decided", text)
    fixed = run_doctor(box, "--fix")
    [edit, _] = fixed.seen("change", state="made")
    assert edit["details"] == LINES[:5]
    assert any("MinConnectionInterval=24" in one["message"] for one in fixed.seen("leftAlone"))
    # Lines that the user adds later stay when ours are removed.
    box.run(f"echo '# mine' >> {CONFIGURATION}")
    before = digest(box)
    undone = run_doctor(box, "--undo", restarts=False)
    assert undone.exit_code == 73
    [left] = undone.seen("change", state="leftAlone")
    assert CONFIGURATION in left["cause"] and digest(box) == before
    box.power_off()


def test_a_file_that_is_not_understood_is_left_alone(road: Lab) -> None:
    text = debians(road) + "\n[LE]\n"
    box = installed(road, "strange", text)
    before = digest(box)
    fixed = run_doctor(box, "--fix", restarts=False)
    assert not fixed.seen("change")
    assert any("the section [LE] twice" in one["message"] for one in fixed.seen("leftAlone")), fixed.output
    assert digest(box) == before
    box.power_off()


def test_who_is_kept_out_joins_the_group_whoever_root_is(road: Lab, head_unit: Box) -> None:
    """bluetoothd admits root, so doctor checks the user who has called sudo."""
    policy = road.folder / "denying.conf"
    policy.write_text(DENYING_POLICY)
    sudo = {**ENVIRONMENT, "SUDO_UID": str(NOBODY), "SUDO_USER": "nobody"}
    with denied(head_unit, policy):
        planned = head_unit.roadmesh("doctor", "--fix", env=sudo, name="planned-denied")
        planned.wait(START)
    assert told(planned, "broken") == ["denied"], planned.output
    titles = [detail for one in planned.seen("change") for detail in one["details"]]
    remarks = [one["message"] for one in planned.seen("leftAlone")]
    assert "usermod -aG bluetooth nobody" in titles or any("no group bluetooth" in one for one in remarks), planned.output


def test_bluetoothd_is_started_as_it_was_without_its_volume_control(road: Lab) -> None:
    box = installed(road, "volume", options=("-E",))
    box.run("mount -t tmpfs -o mode=755 units /etc/systemd/system")
    program = box.roadmesh("doctor", "--fix", "--yes", env=ENVIRONMENT)
    box.run(f"until [ -e {RESTART} ]; do sleep 0.05; done", timeout=START)
    unit = box.run("cat /etc/systemd/system/bluetooth.service.d/roadmesh.conf").splitlines()
    assert unit[:2] == ["[Service]", "ExecStart="]
    assert unit[2].startswith("ExecStart=/usr/libexec/bluetooth/bluetoothd ")
    words = unit[2].split()[1:]
    assert "-E" in words and words[-1] == "--noplugin=vcp" and CONFIGURATION in words
    restart_once(box, *[word for word in words if word != "-n"])
    program.wait(START)
    assert [one["code"] for one in program.seen("finding", area="bluetoothd")] == [
        "volumePlugin",
        "looksThroughPhones",
        "bluetoothd",
    ]
    undone = run_doctor(box, "--undo")
    assert undone.exit_code == 0, undone.tail()
    box.run("test -z \"$(ls -A /etc/systemd/system)\"")
    box.power_off()
