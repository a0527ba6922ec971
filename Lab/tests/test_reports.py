"""Parses the air's advertising reports with Bumble's parser, and tests the scanner's filter."""

from __future__ import annotations

from air.advertiser import CONNECTABLE, LEGACY, SCAN_RESPONSE, SCANNABLE, Report
from air.scanner import DUPLICATE_FILTERS, Scanner, Window
from bumble import hci

ADDRESS = (0, bytes.fromhex("0102030405c6"))
DATA = bytes.fromhex("020106")


def test_a_host_parses_an_extended_report() -> None:
    event = hci.HCI_Packet.from_bytes(Report(ADDRESS, CONNECTABLE | SCANNABLE | LEGACY, DATA, 0).extended(-71))
    assert isinstance(event, hci.HCI_LE_Extended_Advertising_Report_Event)
    (report,) = event.reports
    assert (report.event_type, report.rssi, report.data) == (0x13, -71, DATA)
    assert bytes(report.address) == ADDRESS[1] and report.address.is_public


def test_a_host_parses_a_legacy_scan_response() -> None:
    packet = Report(ADDRESS, CONNECTABLE | SCANNABLE | LEGACY | SCAN_RESPONSE, DATA, 0).legacy(-50)
    assert packet
    event = hci.HCI_Packet.from_bytes(packet)
    assert isinstance(event, hci.HCI_LE_Advertising_Report_Event)
    (report,) = event.reports
    assert (report.event_type, report.rssi, report.data) == (4, -50, DATA)


def test_a_legacy_scanner_cannot_receive_extended_advertising() -> None:
    assert Report(ADDRESS, CONNECTABLE, DATA, 0).legacy(-50) is None


def test_the_mode_defines_duplicates() -> None:
    same = Report(ADDRESS, LEGACY, DATA, 0)
    changed = Report(ADDRESS, LEGACY, DATA + b"\0", 0)
    story = [(same, 0.0), (same, 0.5), (changed, 0.6), (same, 1.2)]

    def reported(mode: str) -> list[bool]:
        scanner = scanning()
        return [scanner.takes(report, mode, now) for report, now in story]

    assert {mode: reported(mode) for mode in DUPLICATE_FILTERS} == {
        "leaky": [True, False, True, True],
        "data": [True, False, True, False],
        "address": [True, False, False, False],
        "off": [True, True, True, True],
    }


def scanning() -> Scanner:
    scanner = Scanner()
    scanner.enable(True, filter_duplicates=True, now=0.0)
    return scanner


def test_a_window_is_open_for_its_share_of_the_interval() -> None:
    window = Window(interval=0.06, length=0.03, start=1.0)
    assert [window.is_open(1.0 + at) for at in (0.0, 0.029, 0.031, 0.059, 0.061)] == [True, True, False, False, True]
