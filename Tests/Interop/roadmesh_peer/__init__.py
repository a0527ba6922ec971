# SPDX-License-Identifier: Apache-2.0
"""A guest and a host of RoadMesh that share no code with RoadMesh, written from docs/protocol.md; Noise comes from a library.

`wire` has the bytes of the protocol, `noise_link` the sealed link, `conversation` what is resumed, `democracy_dj` and
`protobuf` the application's messages, `virtual_air` the virtual radio. `guest` and `hosting` put them together.
`document` reads the examples of docs/protocol.md, and `exchange` writes the one that it shows byte by byte.
"""
