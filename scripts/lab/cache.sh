# Shared by build-kernel, build-bluetoothd and build-venv: where built things are kept, and how the scripts speak.
# Everything that is built lives outside the checkout, named by a hash of what it was built from.

lab_cache=${ROADMESH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/roadmesh}/lab

# What the boxes run on: pair.conf, unless the environment says otherwise.
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

# Holds an exclusive lock on a file until the script ends. The kernel frees it whatever happens to us.
lock() {
    exec 9>"$1"
    flock 9
}

# The apt packages that a kernel build lacks here, each with a blank in front.
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
