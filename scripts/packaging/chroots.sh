# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Chroots for packages: a Debian to build in, and a Debian for another processor. Sourced after common.sh, never run.

# make_chroot CHROOT SUITE PACKAGE...: makes a chroot with a release of Debian and these packages. Makes it again when it needs
# other packages. The log is CHROOT.log.
make_chroot() {
    local chroot=$1 suite=$2 wanted
    shift 2
    wanted=$(printf '%s\n' "$@" | sha256sum)
    [ "$(cat "$chroot/made" 2>/dev/null)" != "$wanted" ] || return 0
    say "Installing Debian $suite into $chroot…"
    rm -rf "$chroot"
    debootstrap --variant=minbase --include="$(IFS=, && echo "$*")" "$suite" "$chroot" >"$chroot.log" 2>&1 ||
        fail "Debian $suite could not be installed; the log is $chroot.log"
    echo "$wanted" >"$chroot/made"
}

# make_arm64_chroot CHROOT SUITE PACKAGE...: the same for arm64. Its programs are emulated.
make_arm64_chroot() {
    local chroot=$1 suite=$2 wanted
    shift 2
    wanted=$(printf '%s\n' arm64 "$@" | sha256sum)
    [ "$(cat "$chroot/made" 2>/dev/null)" != "$wanted" ] || return 0
    say "Installing Debian $suite for arm64 into $chroot…"
    rm -rf "$chroot"
    # The emulator's user namespace cannot make devices. The first stage has made them, and in lxc the second stage does not check.
    {
        debootstrap --foreign --arch=arm64 --variant=minbase ${1:+--include="$(IFS=, && echo "$*")"} "$suite" "$chroot" &&
            enter_arm64 "$chroot" env container=lxc /debootstrap/debootstrap --second-stage
    } >"$chroot.log" 2>&1 || fail "Debian $suite for arm64 could not be installed; the log is $chroot.log"
    echo "$wanted" >"$chroot/made"
}

# fetch_swift_packages CACHE: fetches the packages that RoadMesh depends on for a build with this cache. They are fetched outside
# of the chroot, where git is set up for it. So the chroot needs no network.
fetch_swift_packages() {
    swift package --package-path "$root" --scratch-path "$1/build-release" resolve >"$1/fetch.log" 2>&1 ||
        fail "The Swift packages could not be fetched; the log is $1/fetch.log"
}

# enter CHROOT VARIABLE=VALUE... COMMAND ARGUMENT...: runs a command in a chroot with these variables and no others. The array
# `bound` lists what the chroot has from outside, as TARGET, or SOURCE:TARGET if the places differ.
enter() {
    chroot=$1 bound_lines=$(printf '%s\n' ${bound[@]+"${bound[@]}"}) unshare --mount --pid --fork --kill-child bash -c '
        set -e
        mount --make-rprivate /
        mount -t proc proc "$chroot/proc"
        mount --rbind /dev "$chroot/dev"
        mount -t tmpfs -o mode=1777 tmpfs "$chroot/tmp"
        while IFS=: read -r source target; do
            [ -n "$source" ] || continue
            target=$chroot${target:-$source}
            if [ -d "$source" ]; then mkdir -p "$target"; fi
            mount --bind "$source" "$target"
        done <<<"$bound_lines"
        shift
        exec chroot "$chroot" /usr/bin/env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"' enter "$@"
}

# enter_arm64 CHROOT VARIABLE=VALUE... COMMAND ARGUMENT...: the same, where programs for arm64 run as well.
enter_arm64() {
    # The function is passed on as text, since the emulator starts programs only.
    EMULATOR=$emulator "$root/scripts/packaging/emulated" bash -c "$(declare -f enter)
        bound=($(printf '%q ' ${bound[@]+"${bound[@]}"}))
        enter \"\$@\"" enter_arm64 "$@"
}
