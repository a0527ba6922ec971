# SPDX-License-Identifier: Apache-2.0
"""A guest, a host and a relay of RoadMesh that share no code with RoadMesh, written from docs/protocol.md.

Noise and Ed25519 come from a library.

`wire` and `circuit_frames` have the bytes of the protocol, `noise_link` the sealed link, `conversation` what is
resumed, `signed_state` what a host signs, `democracy_dj` and `protobuf` the application's messages, `virtual_air` the
virtual radio. `guest` and `hosting` put them together, one step after another as a test says.

`mesh_client`, `mesh_relay` and `mesh_host` are nodes that live by themselves: `link` and `circuits` are what they
speak, `net` is their radio and their time, `roads` who hears whom. `hostile_relays` do what a relay must not.

`broker` takes the place of their radio where they meet at an MQTT broker: `broker_wire` has what is published there,
`broker_connection` the library's connection, `broker_nodes` who is there. `hostile_broker` is a broker itself, out of
the packets of `mqtt`, and `broker_faults` what it does wrong.

`document` reads the examples of docs/protocol.md, and `exchange` writes the one that it shows byte by byte.
"""
