#!/usr/bin/env bash
# `make package`: the programs for a Linux without Swift, as dist/islet-VERSION-linux-ARCH.tar.gz with its SHA-256, and the source that a binary under the
# GPL is handed on with.
#
# Guarantees: the programs need the C library of this system or a later one, and nothing else; the licence of all that they contain is in the package, or
# there is no package; the same commit and programs make the same file. Beside `.build` it has a build of its own, .build-package: Swift's runtime is
# compiled in, which every module is compiled for. `package.sh again` packs what was built. Debian and Ubuntu.
set -euo pipefail
cd "$(dirname "$0")/.."
umask 022
export LC_ALL=C

readonly scratch=.build-package
readonly programs=(islet islet-live islet-thresholds islet-swarm)
trap 'echo "package.sh: line $LINENO failed" >&2' ERR
fail() {
    echo "package.sh: $1" >&2
    exit 70
}

commit=$(git rev-parse HEAD)
modified=''
[ -z "$(git status --porcelain)" ] || modified=' with changes that no commit holds'
toolchain=$(swift -print-target-info | sed -n 's#.*"runtimeResourcePath": "\(.*\)/lib/swift".*#\1#p')
[ -x "$toolchain/bin/clang" ] || fail "no clang beside swift"

# --- Build ---------------------------------------------------------------------------------------------------------------

# Archives alone, in a folder that the linker searches first: it takes no shared library of theirs. What they are of is named below.
libraries=$PWD/$scratch/libraries
rm -rf "$libraries" && mkdir -p "$libraries"
archives=(gsl gslcblas sqlite3 stdc++)
for name in "${archives[@]}"; do
    archive=$("$toolchain/bin/clang" -print-file-name="lib$name.a")
    [ -e "$archive" ] || fail "lib$name.a is not there"
    ln -s "$(realpath "$archive")" "$libraries/lib$name.a"
done
# What pkg-config says of them names the system's folder, and SwiftPM asks it.
for name in gsl sqlite3; do
    sed "/^Libs:/s#-L[^ ]*#-L$libraries#g" "$(pkg-config --variable=pcfiledir $name)/$name.pc" >"$libraries/$name.pc"
done
export PKG_CONFIG_PATH=$libraries

# Without the trait TLS: its library is most of a build, and in a package nobody would renew it.
build() {
    .ci/release.sh build --traits Serve --scratch-path $scratch --static-swift-stdlib \
        -Xswiftc -L"$libraries" -Xswiftc -Xclang-linker -Xswiftc -static-libgcc "$@"
}
if [ "${1:-}" != again ]; then
    for program in "${programs[@]}"; do build --product "$program"; done
fi
built=$(build --show-bin-path)

version=$("$built/islet" --version)
name=islet-$version-linux-$(uname -m)
package=$scratch/$name
rm -rf "$package" && mkdir -p "$package/bin" "$package/licences"
for program in "${programs[@]}"; do
    strip -o "$package/bin/$program" "$built/$program"
    others=$(readelf -d "$package/bin/$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
        grep -vE '^(libc|libm|libdl|libpthread|librt|libutil)\.so\.[0-9]+$|^ld-linux' || true)
    [ -z "$others" ] || fail "$program needs $others"
done
glibc=$(readelf -W --version-info "$package"/bin/* | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -n 1)

# --- Licences --------------------------------------------------------------------------------------------------------------

# component NAME VERSION WHERE-ITS-SOURCE-IS FILE...: takes the files over, of which there must be one at least.
components=$package/licences/components.tsv
printf 'component\tversion\tlicence\tsource\n' >"$components"
component() {
    local name=$1 version=$2 source=$3 file to taken=''
    shift 3
    for file in "$@"; do
        [ -s "$file" ] || continue
        to=$name-$(basename "$file")
        case $to in *.txt | *.md) ;; *) to+=.txt ;; esac
        cp "$file" "$package/licences/$to"
        taken+=${taken:+, }$to
    done
    [ -n "$taken" ] || fail "no licence of $name ($version): $*"
    printf '%s\t%s\t%s\t%s\n' "$name" "$version" "$taken" "$source" >>"$components"
}

component islet "$version" "islet-$version-source.tar.gz $commit$modified" LICENSE

# Packages that a program is linked with: a module's own sources say where it comes from; those of C stand in a folder of its name.
linked=$(for program in "${programs[@]}"; do cat "$built/$program.product/Objects.LinkFileList"; done |
    sed -n 's#.*/\([^/]*\)\.build/.*#\1#p' | sort -u)
declare -A modules=()
for module in $linked; do
    if [ -d "Sources/${module//_/-}" ] || [ -d "Sources/$module" ]; then continue; fi
    found=$(grep -oh 'checkouts/[^"]*\.swift' "$built/$module.build/output-file-map.json" 2>/dev/null |
        sed -n '1s#^checkouts/\(.*\)/[^/]*#\1#p' || true)
    [ -n "$found" ] || found=$(cd $scratch/checkouts && ls -d -- */Sources/"$module" 2>/dev/null || true)
    [ -n "$found" ] || fail "no checkout has the module $module"
    for folder in $found; do modules[${folder%%/*}]+=" $scratch/checkouts/$folder"; done
done
[ ${#modules[@]} -gt 2 ] || fail "no list of what is linked"
for checkout in $(printf '%s\n' "${!modules[@]}" | sort); do
    root=$scratch/checkouts/$checkout
    revision=$(git -C "$root" rev-parse HEAD)
    address=$(git -C "$root" config --get remote.origin.url || true)
    [ -d "$address" ] && address=$(git -C "$address" config --get remote.origin.url)
    tag=$(git -C "$root" describe --tags --exact-match 2>/dev/null || echo "$revision")
    compgen -G "$root/LICENSE*" >/dev/null || fail "no licence in $root"
    component "$checkout" "$tag" "$address $revision" "$root"/LICENSE* "$root"/NOTICE*
    # What the checkout has from others.
    for folder in ${modules[$checkout]}; do
        for file in "$folder"/LICENSE*; do
            if [ -e "$file" ]; then component "$checkout-${folder##*/}" "$tag" "$address $revision" "$file"; fi
        done
        if [ "${folder##*/}" = CYaml ]; then
            component libyaml "as in $checkout $tag" "https://github.com/yaml/libyaml" .ci/package/licences/libyaml.txt
        fi
    done
done
swift=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([^ ]+).*/\1/p')
component swift "$swift" "https://github.com/swiftlang/swift and swift-corelibs-libdispatch, swift-corelibs-foundation, swift-foundation" \
    "$toolchain/share/swift/LICENSE.txt"
component ICU "as in swift $swift" "https://github.com/swiftlang/swift-foundation-icu" .ci/package/licences/ICU.txt
for archive in "${archives[@]}" gcc; do
    file=$(realpath "$("$toolchain/bin/clang" -print-file-name="lib$archive.a")")
    owner=$(dpkg-query -S "$file" 2>/dev/null || dpkg-query -S "${file#/usr}") || fail "no package has $file"
    owner=${owner%%:*}
    source=$(dpkg-query -W -f '${source:Package}=${source:Version}\n' "$owner" | head -n 1)
    # Several archives may be of one package.
    if grep -q "^$owner	" "$components"; then continue; fi
    component "$owner" "${source#*=}" "Debian: apt-get source $source" "/usr/share/doc/$owner/copyright"
done
cp /usr/share/common-licenses/GPL-3 "$package/COPYING"
cp LICENSE "$package/LICENSE"

# --- Package -------------------------------------------------------------------------------------------------------------------

# The demonstration's ward is a link into the sources.
git ls-files -z Cohorts | tar -c --dereference --null -T - | tar -x -C "$package"
{
    if [ -z "$modified" ]; then echo "commit $commit"; else echo "no commit: $commit$modified"; fi
    (cd "$package" && sha256sum bin/*)
} >"$package/built.txt"
system=$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)
sed -e "s/@VERSION@/$version/g; s/@ARCH@/$(uname -m)/g; s/@COMMIT@/$commit$modified/; s#@SYSTEM@#$system#; s/@GLIBC@/${glibc#GLIBC_}/" \
    .ci/package/README.txt >"$package/README.txt"

rm -rf dist && mkdir dist
tar -c --sort=name --format=gnu --mtime="@$(git log -1 --format=%ct)" --owner=0 --group=0 --numeric-owner --mode=u+rwX,go+rX,go-w \
    -C $scratch "$name" | gzip -n >"dist/$name.tar.gz"
(cd dist && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
git archive --format=tar --prefix="islet-$version/" HEAD | gzip -n >"dist/islet-$version-source.tar.gz"

du -h dist/*
[ -z "$modified" ] || echo "Not to be handed on: it is of $commit$modified."
