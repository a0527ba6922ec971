# Shared by build-kernel and build-bluetoothd, after cache.sh. Downloads packages of three releases of Debian by apt, with
# the lab's own settings, lists and status. The machine's sources and packages do not change.

readonly debian_suites=(bookworm trixie sid)
readonly debian_mirror=http://deb.debian.org
readonly debian_keys=/usr/share/keyrings/debian-archive-keyring.gpg
readonly debian_folder=$lab_cache/debian

# Package lists older than this, in minutes, are updated.
readonly debian_lists_age=720

# in_suite SUITE COMMAND ARGUMENT...: runs apt-get or apt-cache with the packages of one release, as if no package were installed.
in_suite() {
    local folder=$debian_folder/$1 command=$2
    shift 2
    "$command" -qq -o Dir::Etc::SourceList="$folder/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
        -o Dir::State="$folder/state" -o Dir::State::status="$folder/status" -o Dir::Cache="$folder/cache" \
        -o APT::Sandbox::User=root -o APT::Install-Recommends=false -o APT::Architecture=amd64 -o APT::Architectures=amd64 \
        -o Acquire::Languages=none "$@"
}

# Writes a release's settings, and updates its package list if it is old.
prepare_suite() {
    local suite=$1 folder=$debian_folder/$1 options="[signed-by=$debian_keys]"
    [[ -z $(find "$folder/renewed" -mmin "-$debian_lists_age" 2>/dev/null) ]] || return 0
    mkdir -p "$folder/state/lists/partial" "$folder/cache/archives/partial"
    : >"$folder/status"
    {
        echo "deb $options $debian_mirror/debian $suite main"
        [[ $suite == sid ]] || echo "deb $options $debian_mirror/debian $suite-updates main"
        [[ $suite == sid ]] || echo "deb $options $debian_mirror/debian-security $suite-security main"
    } >"$folder/sources.list"
    in_suite "$suite" apt-get update >&2 || die 69 "Debian's list of the packages of $suite could not be fetched"
    touch "$folder/renewed"
}

# versions SUITE PACKAGE: the versions in a release, the newest first.
versions() { in_suite "$1" apt-cache madison "$2" | awk '{ print $3 }' | sort -Vru; }

# find_version PACKAGE PATTERN: the release and the version of the newest matching package in the three releases.
find_version() {
    local suite one
    for suite in "${debian_suites[@]}"; do
        prepare_suite "$suite"
        for one in $(versions "$suite" "$1"); do echo "$suite $one"; done
    done | grep -E " $2" | sort -Vrk 2,2 -s | head -n 1 | grep .
}

# Debian's newest kernel and bluetoothd, as the lab names them.
newest_kernel() {
    prepare_suite sid
    in_suite sid apt-cache search --names-only '^linux-source-[0-9.]+$' | awk '{ print $1 }' | sed 's/linux-source-//' |
        sort -V | tail -n 1
}
newest_bluetoothd() {
    prepare_suite sid
    versions sid bluez | head -n 1 | sed -E 's/^([0-9]+:)?([0-9.]+).*/\2/'
}
