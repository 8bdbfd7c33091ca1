# shellcheck shell=bash
# What the scripts of the tests share. They source it.
set -euo pipefail

# test_cache is where what is built and fetched stays: in the user's cache folder, so
# that all checkouts on a machine share it. A tool of this checkout's can be given
# another one.
test_cache=${MPI_QUEUES_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mpi-queues/tests}

# cached NAME RECIPE...: the folder for what a recipe makes. Its name tells the recipe's
# contents: what another recipe has made is never taken for it. The recipe is text, as
# `declare -f' prints functions, so that comments do not count.
cached() {
  local name=$1 key
  shift
  key=$(printf '%s\n' "$@" | sha256sum)
  echo "$test_cache/$name-${key:0:12}"
}

fail() {
  echo "${0##*/tests/}: $*" >&2
  exit 1
}

# log FILE COMMAND...: shows the end of the output if the command fails.
log() {
  local file=$1
  shift
  "$@" >"$file" 2>&1 || {
    tail -n 40 "$file" >&2
    fail "failed: $*"
  }
}

# debian_archives FORMAT [FILTER]: lines of the archives that this machine's packages come
# from, with apt's own variables, as $(REPO_URI).
debian_archives() {
  apt-get indextargets --format "$1" 'Created-By: Packages' 'Origin: Debian' "${@:2}" | sort -u
}

# apt_apart FOLDER ARGUMENT...: apt-get with FOLDER/sources.list alone. What it learns of
# packages stays in FOLDER, not in the system. Signatures are checked with the keys of
# the machine's own entries.
apt_apart() {
  local folder=$1
  shift
  mkdir -p "$folder/lists/partial"
  apt-get -qq -o "Dir::Etc::SourceList=$folder/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o "Dir::State::Lists=$folder/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
    -o APT::Sandbox::User=root "$@"
}

# debian_source PACKAGE FOLDER: unpacks the source of a package of this machine's release
# below a new folder.
debian_source() {
  rm -rf "$2"
  mkdir -p "$2"
  # shellcheck disable=SC2016 # apt-get's own variables
  debian_archives 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' >"$2/sources.list"
  (
    cd "$2"
    log apt.log apt_apart "$2" update
    log apt.log apt_apart "$2" source "$1"
  )
}

# out is where the parts of a run write.
out=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/.out

# failed_tests LOG: a log without what tests have written that Go says have passed. What
# failed ones have written comes last, where it is seen.
failed_tests() {
  awk '
    /^=== / { test = $3; next }
    /^ *--- (PASS|SKIP): / { delete text[$3]; test = ""; next }
    /^ *--- FAIL: / { failed = failed text[$3] $0 "\n"; delete text[$3]; test = ""; next }
    test { text[test] = text[test] $0 "\n"; next }
    { print }
    END {
      for (test in text) printf "%s", text[test]
      printf "%s", failed
    }
  ' "$1"
}

# part NAME COMMAND...: runs a part of a run, whose output is shown if it fails, and
# counts it. $out/log/NAME has it in any case.
part() {
  local name=$1 start=$SECONDS
  shift
  if "$@" >"$out/log/$name" 2>&1 </dev/null; then
    echo "$name: passed in $((SECONDS - start)) s"
    return
  fi
  failed_tests "$out/log/$name" | tail -n 150
  echo "$name: FAILED after $((SECONDS - start)) s; all of its output is in $out/log/$name"
  return 1
}

# beside COMMAND -- COMMAND: runs two beside each other, the first of them in a process
# group of its own, which ends with this script. It fails if one of them does.
beside() {
  local first=() bad=0
  while [ "$1" != -- ]; do
    first+=("$1")
    shift
  done
  shift
  set -m
  "${first[@]}" &
  set +m
  # shellcheck disable=SC2064 # this process
  trap "kill -- -$! 2>/dev/null" EXIT
  "$@" || bad=1
  wait $! || bad=1
  trap - EXIT
  return "$bad"
}
