#!/usr/bin/env bash
# The package of `make package`, in a Debian that has nothing of its needs: what README.txt of the package promises, asked as somebody would who unpacked it.
#
# Usage: package_checks.sh --islet BINARY
#   --islet: the ordinary release build, whose digest and results are compared with.
# Makes the package, and with debootstrap a bare root (kept in .build-package). Prints a line a check that failed and, last, `N passed, N failed`; leaves with 1
# on a failure. Where no root can be made it says SKIPPED with the reason, counts nothing, and leaves with 69. Ends only what it started.
set -uo pipefail
export LC_ALL=C
if [ "${1:-}" != --islet ] || [ ! -x "${2:-}" ]; then
    echo "package_checks: --islet BINARY" >&2
    exit 64
fi
skip() {
    echo "SKIPPED: the package in a bare Debian, because $1"
    echo "0 passed, 0 failed"
    exit 69
}
[ "$(id -u)" = 0 ] || skip "only root can make one"
PATH=$PATH:/usr/sbin
command -v debootstrap >/dev/null || skip "debootstrap is not installed (.ci/setup.sh bare)"
# Mounts of this script end with it.
if [ -z "${PACKAGE_CHECKS_APART:-}" ]; then
    unshare --mount true 2>/dev/null || skip "mounts cannot be kept apart here"
    PACKAGE_CHECKS_APART=yes exec unshare --mount --propagation private "$0" "$@"
fi
islet=$(realpath "$2")
cd "$(dirname "$0")/../.." || exit 70

passed=0 failed=0
ok() { passed=$((passed + 1)); }
bad() { failed=$((failed + 1)); echo "FAILED $1${2:+: $2}"; }
check() { # check WHAT FOUND WANTED
    if [ "$2" = "$3" ]; then ok; else bad "$1" "found '$2', expected '$3'"; fi
}
contains() { # contains WHAT TEXT PART
    if grep -qF -- "$3" <<<"$2"; then ok; else bad "$1" "'$3' is not in: ${2:0:600}"; fi
}
digest() { sed -n 's/^ *"digest": "\([0-9a-f]*\)".*/\1/p' "$1/summary.json" 2>/dev/null; }
finish() {
    echo "$passed passed, $failed failed"
    [ $failed = 0 ]
    exit
}

# --- The package, and a root ----------------------------------------------------------------------------------------------

if ! .ci/package.sh; then
    bad "make package"
    finish
fi
tarball=$(realpath dist/islet-*-linux-*.tar.gz)
check "the checksum" "$(cd dist && sha256sum --status -c ./*.sha256 && echo holds)" holds
first=$(sha256sum <"$tarball")
.ci/package.sh again >/dev/null || bad "make package, again"
check "the same programs packed again" "$(sha256sum <"$tarball")" "$first"

# The system that the package was made on: a C library that is older would not do.
. /etc/os-release
case $ID in
debian | ubuntu) ;;
*) skip "debootstrap is told of Debian and Ubuntu alone" ;;
esac
bare=$PWD/.build-package/$ID-$VERSION_CODENAME
if [ ! -d "$bare" ]; then
    rm -rf --one-file-system "$bare.new"
    if ! debootstrap --variant=minbase "$VERSION_CODENAME" "$bare.new" >.build-package/debootstrap.log 2>&1; then
        skip "debootstrap could make none: $(grep -E '^E:' .build-package/debootstrap.log | tail -n 1)"
    fi
    mv "$bare.new" "$bare"
fi
folder=$(mktemp -d) || exit 70
root=$(mktemp -d -p "$PWD/.build-package" root.XXXXXX) || exit 70
server='' endpoint=''
clean() {
    [ -z "$server" ] || kill "$server" 2>/dev/null
    [ -z "$endpoint" ] || kill "$endpoint" 2>/dev/null
    wait
    umount "$root/proc" 2>/dev/null
    mountpoint -q "$root/proc" || rm -rf --one-file-system "$root"
    rm -rf "$folder"
}
trap clean EXIT
cp -a "$bare/." "$root" && chmod 755 "$root" && mount -t proc proc "$root/proc" || exit 70
cp /etc/resolv.conf "$root/etc/resolv.conf"

home=/home/ann
mkdir -p "$root$home" && chown 1000:1000 "$root$home"
# as_ann FOLDER COMMAND...: in the root, as somebody who is not root, from a folder.
readonly path=/usr/local/bin:/usr/bin:/bin
as_ann() {
    local place=$1
    shift
    # shellcheck disable=SC2016
    chroot --userspec=1000:1000 "$root" /usr/bin/env -i PATH=$path HOME=$home sh -c 'cd "$0" && exec "$@"' "$place" "$@" </dev/null
}
here() { as_ann $home "$@"; }
# get ADDRESS: its body, where the status is 200.
get() {
    python3 -c 'import sys, urllib.request; sys.stdout.buffer.write(urllib.request.urlopen(sys.argv[1], timeout=60).read())' "$1"
}

check "nothing in the root that the package must bring" \
    "$(find "$root" -xdev -name 'libswift*' -o -xdev -name 'libgsl*' -o -xdev -name 'libsqlite3*' -o -xdev -name 'libcurl*')" ""

# --- Unpacked, moved, called by links ----------------------------------------------------------------------------------------

# A name that an address would write otherwise.
place="/srv/two words, ü%20"
mkdir -p "$root$place" && tar -xzf "$tarball" --no-same-owner -C "$root$place"
mv "$root$place"/islet-* "$root$place/moved"
package=$place/moved
for program in islet islet-live islet-thresholds islet-swarm; do
    ln -s "$package/bin/$program" "$root/usr/local/bin/$program"
    check "$program --version, by a link" "$(here $program --version 2>&1)" "$("$islet" --version)"
    needs=$(readelf -d "$root$package/bin/$program" | grep NEEDED)
    check "$program needs the C library alone" "$(grep -vE '\[(lib(c|m|dl|pthread|rt|util)\.so\.[0-9]+|ld-linux[^]]*)\]' <<<"$needs")" ""
done
check "the programs that are listed" "$(cd "$root$package" && grep ' bin/' built.txt | sha256sum --status -c - && echo hold)" hold

check "the project's studies, and the demonstration's ward" \
    "$(cd "$root$package" && find Cohorts -name '*.yaml' | wc -l)" "$(find -L Cohorts -name '*.yaml' | wc -l)"
lacking=''
while IFS=$'\t' read -r component _ files _; do
    [ "$component" != component ] || continue
    for file in ${files//,/ }; do [ -s "$root$package/licences/$file" ] || lacking+=" $component"; done
done <"$root$package/licences/components.tsv"
check "a licence of each component" "$lacking" ""
names=$(cut -f 1 "$root$package/licences/components.tsv")
for component in swift ICU libyaml Yams GRDB.swift swift-argument-parser swift-nio swift-nio-CNIOLLHTTP hummingbird swift-log libgsl-dev libsqlite3-dev; do
    if grep -qxF "$component" <<<"$names"; then ok; else bad "the component $component is named"; fi
done
if grep -qx swift-nio-ssl <<<"$names"; then bad "no TLS in the package"; else ok; fi
contains "COPYING" "$(head -n 3 "$root$package/COPYING")" "GNU GENERAL PUBLIC LICENSE"
check "nothing in README.txt that is still to be filled in" "$(grep -o '@[A-Z]*@' "$root$package/README.txt")" ""

# --- What people do ------------------------------------------------------------------------------------------------------------

"$islet" run Cohorts/quickstart.yaml --out "$folder/ordinary" --quiet || bad "the ordinary build runs the quickstart"
wanted=$(digest "$folder/ordinary")
said=$(as_ann / islet run "$package/Cohorts/quickstart.yaml" --out $home/quickstart 2>&1)
check "the quickstart" $? 0
contains "its table" "$said" "paired difference, after-15-min - at-once"
[ ${#wanted} = 64 ] && ok || bad "a digest of 64 hexadecimal digits" "$wanted"
check "its digest" "$(digest "$root$home/quickstart")" "$wanted"
check "its report" "$([ -s "$root$home/quickstart/report.html" ] && echo there)" there
commit=$(sed -n 's/^commit //p' "$root$package/built.txt")
check "the commit in its manifest" \
    "$(sed -n 's/^ *"commit": "\{0,1\}\([0-9a-z]*\)"\{0,1\},*$/\1/p' "$root$home/quickstart/manifest.json")" "${commit:-null}"
cp -r "$folder/ordinary" "$root$home/ordinary" && chown -R 1000:1000 "$root$home/ordinary"
said=$(here islet verify ordinary --sample 20 2>&1)
check "results of the ordinary build, verified" $? 0
contains "what verify says" "$said" "nothing is off"
cp -r "$root$home/quickstart" "$folder/packaged"
said=$("$islet" verify "$folder/packaged" --sample 20 2>&1)
check "results of the package, verified by the ordinary build" $? 0
printf '%s\n' 'duration: 1d' 'timeZone: America/New_York' 'cohort: { generate: { count: 2 } }' 'arms: [{ alerts: dexcom-g7 }]' |
    tee "$folder/zone.yaml" >"$root$home/zone.yaml"
"$islet" run "$folder/zone.yaml" --out "$folder/zone" --quiet || bad "the ordinary build runs a study with a time zone"
here islet run zone.yaml --out zone --quiet
check "a study with a time zone runs" $? 0
check "a study with a time zone" "$(digest "$root$home/zone")" "$(digest "$folder/zone")"

here islet thresholds init --store ann.sqlite --owner ann --device phone --notifications allow >/dev/null
check "islet thresholds init" $? 0
here islet thresholds set --store ann.sqlite --subject me --metric glucose --min 3.9 --max 10 --unit mmol/L >/dev/null
check "islet thresholds set" $? 0
contains "islet thresholds list" "$(here islet thresholds list --store ann.sqlite 2>&1)" "70.26"
said=$(here islet swarm --seeds 1..3 2>&1)
check "islet swarm" $? 0
as_ann $home islet-live run "$package/Cohorts/quickstart.yaml" --set duration=6h --session 1 --pace max --journal live >"$folder/live" 2>&1
check "islet-live run" $? 0
said=$(here islet replay live/session-1.journal 2>&1)
check "islet replay of a journal" $? 0
said=$(here islet verify live/session-1.journal 2>&1)
check "islet verify of a journal" $? 0

# Each of these becomes the next: what is ended is the server.
chroot --userspec=1000:1000 "$root" /usr/bin/env -i PATH=$path HOME=$home islet-live serve --demo --data $home/ward --port 0 \
    >"$folder/serve" 2>&1 </dev/null &
server=$!
address=''
for _ in $(seq 600); do
    address=$(grep -oE 'http://127\.0\.0\.1:[0-9]+' "$folder/serve" | head -n 1)
    if [ -n "$address" ] || ! kill -0 $server 2>/dev/null; then break; fi
    sleep 0.2
done
if [ -z "$address" ]; then
    bad "islet-live serve --demo listens" "$(tail -n 5 "$folder/serve")"
else
    contains "the ward's page" "$(get "$address/" 2>&1)" "<!DOCTYPE html"
    contains "its sessions" "$(get "$address/api/sessions" 2>&1)" '"sessions"'
    asset=$(get "$address/" 2>/dev/null | grep -oE '/assets/[^"]+' | head -n 1)
    [ -n "$asset" ] && [ -n "$(get "$address$asset" 2>/dev/null)" ] && ok || bad "the page's own files" "$asset"
    contains "the package's studies on offer" "$(get "$address/api/studies" 2>&1)" "quickstart"
fi
kill $server 2>/dev/null
wait $server
check "the server ends when it is asked to" $? 0
server=''

# --- Servers of somebody else's, with libcurl and without; the container file ------------------------------------------------

cat >"$folder/endpoint.py" <<'PYTHON'
import http.server, json, sys

class Endpoint(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(sys.argv[1], "ab") as log:
            log.write(b"%d bytes\n" % len(body))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Endpoint)
print(server.server_port, flush=True)
server.serve_forever()
PYTHON
python3 "$folder/endpoint.py" "$folder/posted" >"$folder/port" &
endpoint=$!
for _ in $(seq 300); do
    [ ! -s "$folder/port" ] || break
    sleep 0.1
done
here islet run "$package/Cohorts/quickstart.yaml" --set cohort.generate.count=1 --set duration=6h --set record=full --out steps --quiet
sync() { here islet sync steps --session 0 --to "http://127.0.0.1:$(cat "$folder/port")/steps" --attempts 1 --quiet 2>&1; }
said=$(sync)
check "islet sync without libcurl" $? 66
check "one line" "$(wc -l <<<"$said")" 1
contains "what to install" "$said" libcurl4
[ ! -e "$folder/posted" ] && ok || bad "nothing was posted without libcurl"

# What the container file does, in its order; what it says of an image alone is passed over.
rm -r "${root:?}$place" "$root"/usr/local/bin/islet*
while read -r -u 3 instruction words; do
    case $instruction in
    RUN)
        if ! chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/sbin:$path DEBIAN_FRONTEND=noninteractive sh -ec "$words" >"$folder/run" 2>&1 </dev/null; then
            bad "RUN $words" "$(tail -n 3 "$folder/run")"
        else
            ok
        fi
        ;;
    ADD)
        read -r pattern target <<<"$words"
        # shellcheck disable=SC2086
        added=$(cd dist && ls -d -- $pattern)
        check "what ADD $pattern finds" "$added" "$(basename "$tarball")"
        mkdir -p "$root$target" && tar -xzf "$tarball" --no-same-owner -C "$root$target"
        ;;
    ARG | FROM | WORKDIR | ENTRYPOINT | '#'* | '') ;;
    *) bad "an instruction of the container file that nobody tries" "$instruction" ;;
    esac
done 3<.ci/package/Containerfile
check "in the container's folder" "$(as_ann /work islet --version 2>&1)" "$("$islet" --version)"
said=$(as_ann $home islet run /opt/islet/Cohorts/quickstart.yaml --out contained --quiet 2>&1)
check "the quickstart in it" "$(digest "$root$home/contained")" "$wanted"
said=$(sync)
check "islet sync with libcurl" $? 0
contains "what was posted" "$(cat "$folder/posted" 2>/dev/null)" " bytes"

finish
