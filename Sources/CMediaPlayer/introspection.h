// SPDX-License-Identifier: Apache-2.0
//
// The player object's introspection data (org.freedesktop.DBus.Introspectable).

#ifndef CMEDIA_INTROSPECTION_H
#define CMEDIA_INTROSPECTION_H

#define MPRIS_ROOT "org.mpris.MediaPlayer2"
#define MPRIS_PLAYER "org.mpris.MediaPlayer2.Player"

#define METHOD(name) "<method name=\"" name "\"/>"
#define PROPERTY(name, type) "<property name=\"" name "\" type=\"" type "\" access=\"read\"/>"
#define WRITABLE(name, type) "<property name=\"" name "\" type=\"" type "\" access=\"readwrite\"/>"
#define IN(type) "<arg type=\"" type "\" direction=\"in\"/>"

#define MPRIS_INTROSPECTION                                                                                            \
    DBUS_INTROSPECT_1_0_XML_DOCTYPE_DECL_NODE                                                                          \
    "<node><interface name=\"" MPRIS_ROOT "\">" METHOD("Raise") METHOD("Quit")                                         \
    PROPERTY("CanQuit", "b") PROPERTY("CanRaise", "b") PROPERTY("HasTrackList", "b") PROPERTY("Identity", "s")         \
    PROPERTY("SupportedUriSchemes", "as") PROPERTY("SupportedMimeTypes", "as")                                         \
    "</interface><interface name=\"" MPRIS_PLAYER "\">"                                                                \
    METHOD("Play") METHOD("Pause") METHOD("PlayPause") METHOD("Stop") METHOD("Next") METHOD("Previous")                \
    "<method name=\"Seek\">" IN("x") "</method><method name=\"SetPosition\">" IN("o") IN("x") "</method>"              \
    "<method name=\"OpenUri\">" IN("s") "</method><signal name=\"Seeked\"><arg type=\"x\"/></signal>"                  \
    PROPERTY("PlaybackStatus", "s") PROPERTY("Metadata", "a{sv}") PROPERTY("Position", "x")                            \
    WRITABLE("Volume", "d") WRITABLE("Rate", "d") PROPERTY("MinimumRate", "d") PROPERTY("MaximumRate", "d")            \
    PROPERTY("CanGoNext", "b") PROPERTY("CanGoPrevious", "b") PROPERTY("CanPlay", "b") PROPERTY("CanPause", "b")       \
    PROPERTY("CanSeek", "b") PROPERTY("CanControl", "b")                                                               \
    "</interface></node>"

#endif
