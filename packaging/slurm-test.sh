#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# usage: packaging/slurm-test.sh [TIDEMARK]
# Runs digest.sbatch on a real Slurm of one node, started for this in a temporary folder: every snapshot of a folder gets
# its digest exactly once, stopped tasks lose nothing, and a rerun makes nothing anew. Without Slurm, or without the rights
# to start one, it says so and is content.
set -eu
# shellcheck source=packaging/common.sh
. "$(dirname -- "$(readlink -f -- "$0")")/common.sh"

skip() {
    say "skipped: $*"
    exit 0
}
for tool in munged slurmctld slurmd sbatch srun scontrol; do
    command -v "$tool" >/dev/null || skip "there is no $tool here (Debian: slurm-wlm and munge)"
done
[ "$(id -u)" = 0 ] || skip "munged and slurmd are started as root"

tidemark=$(readlink -f -- "${1:-${TIDEMARK_BIN:-$root/build/release/tidemark}}")
[ -x "$tidemark" ] || die "there is no program $tidemark; build it, or give its path"
ranks=150
patience=90 # seconds for a thing that takes one or two
base=$(mktemp -d)
chmod 755 "$base"
started=()

stop() {
    local status=$? pid
    # The youngest first; only what was started here.
    for ((i = ${#started[@]} - 1; i >= 0; --i)); do
        pid=${started[i]}
        kill "$pid" 2>/dev/null || true
        for _ in $(seq 50); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.1
        done
        kill -9 "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    [ "$status" = 0 ] || tail -n 15 -- "$base"/*.log "$base"/*.out >&2 2>/dev/null || true
    rm -rf -- "$base"
    exit "$status"
}
trap stop EXIT
trap 'exit 1' INT TERM

# until_true COMMAND…: waits until it succeeds.
until_true() {
    for _ in $(seq $((patience * 5))); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.2
    done
    die "in vain for $patience s: $*"
}

free_port() {
    local port
    while :; do
        port=$((20000 + RANDOM % 20000))
        (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
    done
    printf '%s' "$port"
}

# ---- munge: who speaks
mkdir "$base/munge" "$base/state" "$base/spool"
chmod 711 "$base/munge"
(umask 077 && head -c 1024 /dev/urandom >"$base/munge/key")
munged --foreground --force --socket="$base/munge/socket" --key-file="$base/munge/key" --log-file="$base/munged.log" \
    --pid-file="$base/munge/pid" --seed-file="$base/munge/seed" >"$base/munged.log" 2>&1 &
started+=($!)
until_true munge -n --socket="$base/munge/socket"

# ---- slurm: one node that says it has four processors and plenty of memory
node=$(hostname -s)
cat >"$base/slurm.conf" <<CONF
ClusterName=tidemark
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
AuthType=auth/munge
AuthInfo=socket=$base/munge/socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$base/state
SlurmdSpoolDir=$base/spool
SlurmctldPidFile=$base/slurmctld.pid
SlurmdPidFile=$base/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
SchedulerParameters=sched_interval=2
NodeName=$node NodeAddr=127.0.0.1 CPUs=4 RealMemory=65536 State=UNKNOWN
PartitionName=all Nodes=$node Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$base/slurm.conf
slurmctld -D >"$base/slurmctld.log" 2>&1 &
started+=($!)
slurmd -D >"$base/slurmd.log" 2>&1 &
started+=($!)
node_is_idle() { scontrol show node "$node" | grep -q 'State=IDLE'; }
until_true node_is_idle
say "Slurm is up: $(sbatch --version)"

# ---- a small run, and its digests
mkdir "$base/run"
for ((rank = 0; rank < ranks; ++rank)); do
    cp -- "$root/resources/samples/training.pickle.gz" "$base/run/snapshot_$rank.pickle.gz"
done
export TIDEMARK=$tidemark
# digest NAME OPTION…: runs the example to its end; what its tasks said is in NAME.out.
digest() {
    local name=$1
    shift
    sbatch --wait --quiet --output="$base/$name.out" "$@" "$root/packaging/digest.sbatch" "$base/run" "$base/digests" \
        || die "the job $name has failed"
}
# made NAME: digests that the tasks of a job said they made.
made() { sed -n 's/^tidemark: \([0-9,]*\) made.*/\1/p' "$base/$1.out" | awk '{ sum += $1 } END { print sum + 0 }'; }
expect() { # expect WHAT WANTED GOT
    [ "$2" = "$3" ] || die "$1: $3 instead of $2"
    say "$1: $3"
}
count() { find "$base/digests" -name '*.tmdigest' 2>/dev/null | wc -l; }

digest first --ntasks=3
expect "digests of $ranks snapshots by 3 tasks" "$ranks" "$(count)"
expect "made by them" "$ranks" "$(made first)"
expect "shares" "3" "$(grep -c 'in share . of 3 (SLURM_PROCID)' "$base/first.out")"
digest again --ntasks=4
expect "made by a rerun" 0 "$(made again)"

rm -r -- "$base/digests"
digest array --array=0-1 --ntasks=2 --output="$base/array-%a.out"
cat "$base"/array-*.out >"$base/array.out"
expect "made by an array of 2 with 2 tasks each" "$ranks" "$(made array)"
expect "digests there" "$ranks" "$(count)"

# Stopped in the middle, then run again.
rm -r -- "$base/digests"
job=$(sbatch --parsable --ntasks=2 --output="$base/stopped.out" "$root/packaging/digest.sbatch" "$base/run" "$base/digests")
some_there() { [ "$(count)" -gt 0 ]; }
until_true some_there
scancel --signal=KILL "$job" || true
job_is_over() { ! squeue --noheader --jobs="$job" 2>/dev/null | grep -q .; }
until_true job_is_over
before=$(count)
digest rest --ntasks=3
expect "made after $before of a stopped job" "$((ranks - before))" "$(made rest)"
expect "digests there" "$ranks" "$(count)"
"$tidemark" diagnose "$base/digests" >"$base/diagnose.out" || die "the digests do not open"
grep -q "$ranks ranks" "$base/diagnose.out" || die "the digests do not open as one run"
say "all of them open as one run"
