#!/usr/bin/env bash
# Installs the system packages that are lacking, and only those: `setup.sh build` for what the build needs, `setup.sh
# build python` for what the oracles need too, `setup.sh browser` for what looks at reports, `setup.sh bare` for what makes a bare root,
# `setup.sh count` for what counts instructions, `setup.sh slurm` for a scheduler. Debian and Ubuntu; elsewhere it says what is lacking.
set -euo pipefail

if ! command -v swift >/dev/null; then
    echo "setup.sh: Swift 6.3 is needed: https://www.swift.org/install/linux" >&2
    exit 69
fi

# The browser that is there, as check_report.py looks for it.
browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }

# Ubuntu's package is a note that a snap is wanted, which no container has.
browser_starts() {
    local group
    for group in "$@"; do
        if [ "$group" = browser ] && ! "$(browser)" --version >/dev/null 2>&1; then
            echo "setup.sh: chromium is installed, and does not start" >&2
            exit 69
        fi
    done
}

lacking=()
for group in "$@"; do
    case $group in
    build)
        command -v pkg-config >/dev/null || lacking+=(pkg-config)
        command -v make >/dev/null || lacking+=(make)
        if ! { command -v pkg-config && pkg-config --exists gsl; } >/dev/null 2>&1; then lacking+=(libgsl-dev); fi
        if ! { command -v pkg-config && pkg-config --exists sqlite3; } >/dev/null 2>&1; then
            lacking+=(libsqlite3-dev)
        fi
        ;;
    # A venv without its own pip is what Debian's python3 makes until python3-venv is there.
    python) python3 -c 'import ensurepip, venv' >/dev/null 2>&1 || lacking+=(python3-venv) ;;
    browser)
        if ! browser >/dev/null || ! command -v chromedriver >/dev/null; then
            # Ubuntu has other names for them.
            if grep -qs '^ID=ubuntu' /etc/os-release; then
                lacking+=(chromium-browser chromium-chromedriver)
            else
                lacking+=(chromium chromium-driver)
            fi
        fi
        ;;
    # What it installs stands where a user's path may not lead.
    bare) PATH=$PATH:/usr/sbin command -v debootstrap >/dev/null || lacking+=(debootstrap) ;;
    count)
        command -v valgrind >/dev/null || lacking+=(valgrind)
        command -v objcopy >/dev/null || lacking+=(binutils)
        ;;
    slurm) PATH=$PATH:/usr/sbin command -v slurmctld munged >/dev/null || lacking+=(slurm-wlm munge) ;;
    *) echo "setup.sh: build, python, browser, bare, count or slurm, not $group" >&2; exit 64 ;;
    esac
done
if [ ${#lacking[@]} = 0 ]; then
    browser_starts "$@"
    exit 0
fi

if ! command -v apt-get >/dev/null; then
    echo "setup.sh: please install what Debian calls ${lacking[*]}" >&2
    exit 69
fi
as_root=()
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "setup.sh: please install, as root: apt-get install ${lacking[*]}" >&2
        exit 69
    fi
    as_root=(sudo)
    [ -t 0 ] || as_root=(sudo -n)
fi
echo "installing ${lacking[*]}"
# What is not in the lists yet may be after an update; an update that fails is no matter if the packages are known.
${as_root+"${as_root[@]}"} apt-get update -qq </dev/null || true
${as_root+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${lacking[@]}" </dev/null >/dev/null
browser_starts "$@"
