# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What the scripts share: where things are, and how the program is built. Sourced, never run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Builds stay outside the checkout, so that a fresh clone finds them again.
cache=${ROADMESH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/roadmesh}
scratch=$cache/build

# Packages for building and running. The tests need more: for the radio lab's kernel, Bluetooth and Python; a player and a
# program that steers it; a browser; a reader of QR codes; gpsd; tshark; tools that make Debian packages and install them.
build_packages=(
    g++ pkgconf libxml2 libbluetooth-dev libdbus-1-dev libsqlite3-dev libtag1-dev libuchardet-dev libsystemd-dev libqrencode-dev
    libcurl4-openssl-dev libedit-dev libsodium-dev libmosquitto-dev
)
# Making a package needs these as well.
package_packages=(binutils dpkg-dev patchelf python3)
test_packages=(
    "${package_packages[@]}"
    bluez bluez-test-tools dbus build-essential flex bison bc libelf-dev libssl-dev xz-utils kmod debian-archive-keyring
    python3-venv mpv playerctl chromium-headless-shell zbar-tools
    debootstrap systemd systemd-container util-linux procps
    avahi-daemon avahi-utils iproute2 strace mosquitto nats-server bindfs e2fsprogs dosfstools gpiod gpsd gpsd-clients
    tshark
)

say() { printf '%s\n' "$*" >&2; }
fail() {
    say "$*"
    exit 1
}

# build LOG ARGUMENT...: `swift build` of RoadMesh.
build() {
    local log=$1
    shift
    build_package "$root" "$scratch" "$log" "$@"
}

# build_package PACKAGE SCRATCH LOG ARGUMENT...: prints nothing if the build is quick, and its log if the build fails.
build_package() {
    local package=$1 folder=$2 log=$3 notice
    shift 3
    mkdir -p "$cache"
    (sleep 3 && say "Building RoadMesh. The first time takes some minutes…") &
    notice=$!
    # BoringSSL without optimization takes a quarter of the processor time of the tests of MeshProtocol and DemocracyDJ.
    # Package.swift describes ROADMESH_OPTIMIZE.
    if ! ROADMESH_OPTIMIZE=1 swift build --package-path "$package" --scratch-path "$folder" -Xcc -O2 "$@" >"$log" 2>&1; then
        kill "$notice" 2>/dev/null || true
        grep -E '(error|warning): ' "$log" | sort -u | head -n 20 >&2 || true
        fail "The build failed; its whole log is $log"
    fi
    kill "$notice" 2>/dev/null || true
    wait "$notice" 2>/dev/null || true
}
