#!/usr/bin/env bash
# The script of `islet plan --for slurm` in a real controller with two nodes on loopback; one node is killed while shards run.
#
#   slurm_checks.sh --islet .build/release/islet [--shards 40]
#
# As root, with Debian's slurm-wlm and munge (`.ci/setup.sh slurm`). One shard finds a full disk at its first try. The last line is `N passed, N failed`;
# without Slurm it counts nothing and leaves with 69.
set -uo pipefail
islet='' shards=40
while [ $# -gt 0 ]; do
    case $1 in
    --islet) islet=$(realpath "$2") && shift 2 ;;
    --shards) shards=$2 && shift 2 ;;
    *) echo "usage: slurm_checks.sh --islet PROGRAM [--shards N]" >&2 && exit 64 ;;
    esac
done
skip() {
    echo "skipped: $1"
    echo "0 passed, 0 failed"
    exit 69
}
[ -x "$islet" ] || { echo "no program $islet" >&2; exit 66; }
for needed in slurmctld slurmd sbatch munged; do
    command -v "$needed" >/dev/null || skip "no $needed (apt-get install slurm-wlm munge)"
done
[ "$(id -u)" = 0 ] || skip "not root"

folder=$(mktemp -d -t islet-slurm-XXXXXX)
passed=0 failed=0 daemons=()
check() {
    if [ "$2" = "$3" ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAILED $1: found $2, expected $3"; fi
}
finish() {
    for process in "${daemons[@]}"; do kill -9 "$process" 2>/dev/null; done
    rm -rf "$folder"
}
trap finish EXIT

host=$(hostname -s)
mkdir -p "$folder"/{state,bin}
cat >"$folder/bin/islet" <<WRAPPER
#!/bin/sh
# The first try of shard 3 finds a full disk.
case "\$*" in *"--shard 3/"*) [ -e "$folder/was-full" ] || { touch "$folder/was-full"; exit 75; } ;; esac
exec "$islet" "\$@"
WRAPPER
chmod +x "$folder/bin/islet"
cat >"$folder/slurm.conf" <<CONF
ClusterName=islet
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16819
SlurmUser=root
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool-%n
SlurmctldPidFile=$folder/ctld.pid
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmctldLogFile=$folder/ctld.log
SlurmdLogFile=$folder/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdTimeout=10
KillWait=2
MinJobAge=3600
SchedulerParameters=batch_sched_delay=1,sched_interval=2
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=17003 CPUs=1 RealMemory=4000
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=17004 CPUs=1 RealMemory=4000
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$folder/slurm.conf
if ! munge -n >/dev/null 2>&1; then
    mkdir -p /run/munge && chown munge /run/munge
    [ -s /etc/munge/munge.key ] || { dd if=/dev/urandom of=/etc/munge/munge.key bs=1024 count=1 status=none && chown munge /etc/munge/munge.key && chmod 400 /etc/munge/munge.key; }
    su -s /bin/sh munge -c /usr/sbin/munged
fi
slurmctld -D -f "$SLURM_CONF" & daemons+=($!)
sleep 2
node() { slurmd -D -f "$SLURM_CONF" -N "$1" >/dev/null 2>&1 & daemons+=($!); }
node n1
n1=$!
node n2
for _ in $(seq 30); do [ "$(sinfo -h -t idle -o %D)" = 2 ] && break; sleep 1; done
check "nodes" "$(sinfo -h -t idle -o %D)" 2

cd "$folder" || exit 70
cat >study.yaml <<STUDY
study: cluster
seed: 11
duration: 180d
cohort: { generate: { model: uva-padova-2008, count: $shards } }
arms: [{ name: a, algorithm: basal-bolus }, { name: b, algorithm: pid-insulin-feedback }]
STUDY
digest() { sed -n 's/^ *"digest": "\([0-9a-f]*\)".*/\1/p' "$1/summary.json" | head -n 1; }
"$islet" run study.yaml --quiet --no-report --out plain || exit 70
PATH=$folder/bin:$PATH
export PATH
islet plan study.yaml --shards "$shards" --for slurm --store store --out run.sbatch
check "lines of the script" "$(($(wc -l <run.sbatch) <= 40))" 1
sbatch run.sbatch >/dev/null
done_shards() { ls store/done 2>/dev/null | wc -l; }
for _ in $(seq 600); do [ "$(done_shards)" -ge $((shards / 4)) ] && break; sleep 0.2; done

# A node goes: its daemon, the steps that this has started, and what these run, which are processes with the node's name.
tasks=() steps=()
running_on() {
    local process lives_in parent
    tasks=() steps=()
    for process in $(pgrep 'bash|sh|islet|slurm_script'); do
        lives_in=$(tr '\0' '\n' 2>/dev/null <"/proc/$process/environ") || continue
        grep -qx "SLURMD_NODENAME=$1" <<<"$lives_in" && grep -qx "SLURM_CONF=$SLURM_CONF" <<<"$lives_in" || continue
        tasks+=("$process")
        parent=$(awk '$1 == "PPid:" { print $2 }' "/proc/$process/status" 2>/dev/null)
        grep -qs slurmstepd "/proc/$parent/comm" && steps+=("$parent")
    done
    [ ${#steps[@]} -gt 0 ] && [ ${#tasks[@]} -gt 1 ]
}
for _ in $(seq 600); do running_on n1 && break; sleep 0.1; done
check "something was under way on the node" "$((${#tasks[@]} > 1 && ${#steps[@]} > 0))" 1
killed_at=$(done_shards)
kill -9 "$n1"
kill -9 "${steps[@]}" "${tasks[@]}" 2>/dev/null
for _ in $(seq 900); do [ -z "$(squeue -h -t pending,running,completing)" ] && break; sleep 0.5; done
restarts=$(scontrol show job -o | grep -o 'Restarts=[0-9]*' | awk -F= '{ n += $2 } END { print n + 0 }')
echo "by Slurm's account $restarts tasks were begun again"
# What ran on the node, and the one whose disk was full.
check "no more was lost than what was under way" "$((restarts >= 2 && restarts <= 1 + 1))" 1
echo "node n1 was killed after $killed_at shards; $(done_shards) of $shards without anybody's help"
# What the requeues left, as a person would run it.
missing=$(islet status store --missing --ranges)
if [ -n "$missing" ]; then
    echo "run again by hand: $missing"
    sbatch --array="$missing" run.sbatch >/dev/null
    for _ in $(seq 900); do [ -z "$(squeue -h -t pending,running,completing)" ] && break; sleep 0.5; done
fi
check "shards done" "$(done_shards)" "$shards"
islet status store --tidy >/dev/null
check "left over" "$(islet status store | grep -c 'left over')" 0
islet merge store --quiet --out whole
check "digest" "$(digest whole)" "$(digest plain)"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
