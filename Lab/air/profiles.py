"""The kinds of controllers. The kernel behaves differently with each, so scenarios can choose."""

from __future__ import annotations

from dataclasses import dataclass

from bumble import hci
from bumble.controller import Controller

from .advertiser import MAXIMUM_DATA

Feature = hci.LeFeatureMask

BASIC_FEATURES = (
    Feature.LE_ENCRYPTION
    | Feature.CONNECTION_PARAMETERS_REQUEST_PROCEDURE
    | Feature.EXTENDED_REJECT_INDICATION
    | Feature.PERIPHERAL_INITIATED_FEATURE_EXCHANGE
    | Feature.LE_DATA_PACKET_LENGTH_EXTENSION
)

# Commands in Bumble's own table that the air does not implement.
NOT_SUPPORTED = {
    hci.HCI_LE_RECEIVER_TEST_COMMAND,
    hci.HCI_LE_TRANSMITTER_TEST_COMMAND,
    hci.HCI_LE_TEST_END_COMMAND,
    hci.HCI_LE_RECEIVER_TEST_V2_COMMAND,
    hci.HCI_LE_TRANSMITTER_TEST_V2_COMMAND,
    hci.HCI_READ_AUTHENTICATED_PAYLOAD_TIMEOUT_COMMAND,
    hci.HCI_WRITE_AUTHENTICATED_PAYLOAD_TIMEOUT_COMMAND,
    hci.HCI_LE_READ_BUFFER_SIZE_V2_COMMAND,
}

# As of Bluetooth 5.0.
EXTENDED_COMMANDS = {
    hci.HCI_LE_SET_ADVERTISING_SET_RANDOM_ADDRESS_COMMAND,
    hci.HCI_LE_SET_EXTENDED_ADVERTISING_PARAMETERS_COMMAND,
    hci.HCI_LE_SET_EXTENDED_ADVERTISING_DATA_COMMAND,
    hci.HCI_LE_SET_EXTENDED_SCAN_RESPONSE_DATA_COMMAND,
    hci.HCI_LE_SET_EXTENDED_ADVERTISING_ENABLE_COMMAND,
    hci.HCI_LE_READ_MAXIMUM_ADVERTISING_DATA_LENGTH_COMMAND,
    hci.HCI_LE_READ_NUMBER_OF_SUPPORTED_ADVERTISING_SETS_COMMAND,
    hci.HCI_LE_REMOVE_ADVERTISING_SET_COMMAND,
    hci.HCI_LE_CLEAR_ADVERTISING_SETS_COMMAND,
    hci.HCI_LE_SET_EXTENDED_SCAN_PARAMETERS_COMMAND,
    hci.HCI_LE_SET_EXTENDED_SCAN_ENABLE_COMMAND,
    hci.HCI_LE_EXTENDED_CREATE_CONNECTION_COMMAND,
}
PHY_COMMANDS = {
    hci.HCI_LE_READ_PHY_COMMAND,
    hci.HCI_LE_SET_DEFAULT_PHY_COMMAND,
    hci.HCI_LE_SET_PHY_COMMAND,
}


@dataclass(frozen=True)
class Profile:
    version: int
    features: hci.LeFeatureMask
    commands: frozenset[int]
    two_megabit: bool
    buffers: int
    """How many ACL packets the host may send ahead. They are a latency queue."""
    advertising_sets: int
    advertising_data: int


_COMMON = frozenset(Controller.supported_commands) - NOT_SUPPORTED

PROFILES = {
    # A current dongle: extended advertising with several sets, 2M.
    "modern": Profile(
        version=hci.HCI_VERSION_BLUETOOTH_CORE_5_0,
        features=BASIC_FEATURES
        | Feature.LE_2M_PHY
        | Feature.CHANNEL_SELECTION_ALGORITHM_2
        | Feature.LE_EXTENDED_ADVERTISING,
        commands=_COMMON | EXTENDED_COMMANDS,
        two_megabit=True,
        buffers=8,
        advertising_sets=4,
        advertising_data=MAXIMUM_DATA,
    ),
    # A Bluetooth 4.2 dongle: only legacy commands, one advertisement at a time, 1M.
    "plain": Profile(
        version=hci.HCI_VERSION_BLUETOOTH_CORE_4_2,
        features=BASIC_FEATURES,
        commands=_COMMON - PHY_COMMANDS,
        two_megabit=False,
        buffers=8,
        advertising_sets=1,
        advertising_data=31,
    ),
}
