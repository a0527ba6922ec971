# SPDX-License-Identifier: Apache-2.0
"""A guest, a host and a relay of RoadMesh that share no code with RoadMesh, written from docs/protocol.md.

Noise and Ed25519 come from a library.

`wire` and `circuit_frames` have the bytes of the protocol, `noise_link` the sealed link, `conversation` the state that
is resumed, `signed_state` the state that a host signs, `democracy_dj` and `protobuf` the application's messages,
`virtual_air` the virtual radio. `guest` and `hosting` combine them; a test runs them step by step.

`mesh_client`, `mesh_relay` and `mesh_host` are nodes that run on their own. They use `link` and `circuits`; `net` has
their bearer and their clock, `roads` the ranges of radios. `hostile_relays` break the rules for relays.

At an MQTT broker, `broker` replaces their radio: `broker_wire` has the published messages, `broker_connection` the
library's connection, `broker_nodes` the nodes. `hostile_broker` is a broker itself, made of the packets of `mqtt`, and
`broker_faults` has its faults.

`document` reads the examples of docs/protocol.md, and `exchange` writes the one that is shown byte by byte.
"""
