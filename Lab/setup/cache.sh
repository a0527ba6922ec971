# Shared by build-kernel, build-bluetoothd and build-venv: the paths of built things, and messages.
# All build products are outside the checkout. Their names have a hash of their inputs.

lab_cache=${ROADMESH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/roadmesh}/lab

# The boxes' kernel and bluetoothd: from the environment, else from pair.conf.
source "$(dirname "${BASH_SOURCE[0]}")/pair.conf"
chosen_kernel=${ROADMESH_LAB_KERNEL:-$KERNEL}
chosen_bluetoothd=${ROADMESH_LAB_BLUETOOTHD:-$BLUETOOTHD}

say() { echo "radio-lab: $*" >&2; }

die() {
    local code=$1
    shift
    say "$*"
    exit "$code"
}

short_hash() { cat "$@" | sha256sum | cut -c1-12; }

# Holds an exclusive lock on a file until the script ends. The kernel releases it in any case.
lock() {
    exec 9>"$1"
    flock 9
}

# Missing apt packages for building a kernel, each after a space.
missing_packages() {
    local command package
    while read -r command package; do
        command -v "$command" >/dev/null || echo -n " $package"
    done <<'LIST'
gcc gcc
make make
flex flex
bison bison
bc bc
xz xz-utils
depmod kmod
LIST
    [[ -e /usr/include/libelf.h ]] || echo -n " libelf-dev"
    [[ -e /usr/include/openssl/opensslv.h ]] || echo -n " libssl-dev"
    [[ -e /usr/share/keyrings/debian-archive-keyring.gpg ]] || echo -n " debian-archive-keyring"
}
