# Shared by build-kernel and build-bluetoothd, after cache.sh: packages of three releases of Debian, downloaded by apt with
# settings, lists and a status of the lab's own. The machine's sources and packages stay as they are.

readonly debian_suites=(bookworm trixie sid)
readonly debian_mirror=http://deb.debian.org
readonly debian_keys=/usr/share/keyrings/debian-archive-keyring.gpg
readonly debian_folder=$lab_cache/debian

# Lists of packages that are older than this, in minutes, are renewed.
readonly debian_lists_age=720

# in_suite SUITE COMMAND ARGUMENT...: apt-get or apt-cache with the packages of one release, on a machine with none installed.
in_suite() {
    local folder=$debian_folder/$1 command=$2
    shift 2
    "$command" -qq -o Dir::Etc::SourceList="$folder/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
        -o Dir::State="$folder/state" -o Dir::State::status="$folder/status" -o Dir::Cache="$folder/cache" \
        -o APT::Sandbox::User=root -o APT::Install-Recommends=false -o APT::Architecture=amd64 -o APT::Architectures=amd64 \
        -o Acquire::Languages=none "$@"
}

# Makes a release's settings, and renews its list of packages where it is old.
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

# versions SUITE PACKAGE: the versions that a release has, the newest first.
versions() { in_suite "$1" apt-cache madison "$2" | awk '{ print $3 }' | sort -Vru; }

# find_version PACKAGE PATTERN: the newest such version of it in the three releases, after the name of its release.
find_version() {
    local suite one
    for suite in "${debian_suites[@]}"; do
        prepare_suite "$suite"
        for one in $(versions "$suite" "$1"); do echo "$suite $one"; done
    done | grep -E " $2" | sort -Vrk 2,2 -s | head -n 1 | grep .
}

# The kernel and the bluetoothd that are newest in Debian, by the names that the lab has for them.
newest_kernel() {
    prepare_suite sid
    in_suite sid apt-cache search --names-only '^linux-source-[0-9.]+$' | awk '{ print $1 }' | sed 's/linux-source-//' |
        sort -V | tail -n 1
}
newest_bluetoothd() {
    prepare_suite sid
    versions sid bluez | head -n 1 | sed -E 's/^([0-9]+:)?([0-9.]+).*/\2/'
}
