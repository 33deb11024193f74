# shellcheck shell=bash disable=SC2034
# Common to the scripts of this folder; source it from bash after `set -euo pipefail`.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# The one list of packages (Debian 12 and Ubuntu 24.04 names, one line per reason).
packages_build=(
  cmake ninja-build ccache         # build system; ccache makes the second build cheap
  clang libclang-rt-dev            # compiler of presets default, asan, tsan, and its sanitizers
  g++ binutils                     # compiler of preset gcc, the C++ library, linker, objcopy
  libboost-context-dev             # switching between fibers
  libfmt-dev libcli11-dev nlohmann-json3-dev  # text, command line, JSON
  libgtest-dev libgmock-dev        # tests
)
packages_test=(
  llvm                             # llvm-symbolizer: functions and lines in sanitizer reports
)

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

missing_packages() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      echo "$package"
  done
}

# install_packages NAME...: installs what is missing, as root or through sudo. Exits 3, with the
# list of what is needed, where it cannot. SD_SKIP_INSTALL=1 trusts that all is there.
install_packages() {
  [[ ${SD_SKIP_INSTALL:-0} == 1 ]] && return
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    say "this is not Debian or Ubuntu. Needed, by their Debian names:"
    printf '  %s\n' "$@" >&2
    say "install them, then run again with SD_SKIP_INSTALL=1"
    exit 3
  fi
  local missing as_root=()
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      say "not root, and no sudo. As root: apt-get install --no-install-recommends ${missing[*]}"
      exit 3
    fi
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  local log
  log=$(mktemp)
  if ! { "${as_root[@]}" apt-get update &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    say "could not install them; the whole log is $log"
    exit 3
  fi
  rm -f "$log"
}

check_cmake() {
  local version
  version=$(cmake --version | awk 'NR == 1 { print $3 }')
  if [[ $(printf '%s\n' 3.25 "$version" | sort -V | head -n 1) != 3.25 ]]; then
    say "cmake is $version, 3.25 is needed (Debian 12, Ubuntu 24.04 or newer)"
    exit 3
  fi
}

# build PRESET [CMAKE-OPTION...]: configures and builds it. The log is build/PRESET.log; the end of
# it is shown if something fails.
build() {
  local preset=$1 log=$root/build/$1.log
  shift
  mkdir -p "$root/build"
  if ! { cmake -S "$root" --preset "$preset" "$@" &&
    cmake --build "$root/build/$preset"; } >"$log" 2>&1; then
    grep -E -A 5 'error:|CMake Error' "$log" | head -n 60 >&2 || tail -n 30 "$log" >&2
    say "preset $preset does not build; the whole log is $log"
    return 1
  fi
}
