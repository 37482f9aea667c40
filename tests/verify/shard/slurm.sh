#!/bin/sh
# slurm.sh BUILD: suite smoke in six shards as a job array of Slurm, on two nodes of this machine (Debian's slurm-wlm and
# munge, as root).  One node is killed in the middle of a shard, with all that runs on it; Slurm gives its shard to the
# other node, where it goes on.  The merge must be the run of one piece.  The batch script is the one of
# reports/docs/scale.md.  Exit code 1: it was not; 2: something is missing.
set -u
build=$(cd "$1" && pwd) here=$(cd "$(dirname "$0")/../../.." && pwd)
for program in munged slurmctld slurmd sbatch squeue; do
    command -v "$program" >/dev/null || { echo "slurm.sh: $program is missing: make deps-long" >&2; exit 2; }
done
[ "$(id -u)" = 0 ] || { echo "slurm.sh: munge and slurmd want root" >&2; exit 2; }
dir=$(mktemp -d /tmp/attest-slurm-XXXXXX) # munge wants a short path that all may enter
chmod 755 "$dir"
mkdir "$dir/run" "$dir/log" "$dir/state" "$dir/spool"
started=
end() {
    code=$?
    for pid in $started; do kill -9 "$pid" 2>/dev/null; done
    [ "$code" = 0 ] || tail -n 20 "$dir"/log/*.log "$dir"/slurm-*.out 2>/dev/null
    rm -rf "$dir"
    exit "$code"
}
trap end EXIT
fail() { echo "slurm.sh: $*" >&2; exit 1; }

host=$(hostname -s)
cat >"$dir/slurm.conf" <<END
ClusterName=attest
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/run/munge.sock
CredType=cred/munge
SlurmctldPort=16817
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool/%n
SlurmctldPidFile=$dir/run/ctld.pid
SlurmdPidFile=$dir/run/%n.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SlurmdTimeout=5
SchedulerType=sched/backfill
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=17001 CPUs=1 State=UNKNOWN
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=17002 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF="$dir/slurm.conf"
dd if=/dev/urandom of="$dir/munge.key" bs=1024 count=1 2>/dev/null
chmod 400 "$dir/munge.key"
munged --foreground --force --key-file="$dir/munge.key" --socket="$dir/run/munge.sock" --pid-file="$dir/run/munge.pid" \
    --log-file="$dir/log/munged.log" --seed-file="$dir/run/munge.seed" >"$dir/log/munge.log" 2>&1 &
started="$started $!"
until [ -S "$dir/run/munge.sock" ]; do sleep 0.2; done
slurmctld -D >"$dir/log/ctld.log" 2>&1 &
started="$started $!"
slurmd -D -N n1 >"$dir/log/n1.log" 2>&1 &
started="$started $!"
slurmd -D -N n2 >"$dir/log/n2.log" 2>&1 &
second=$!
started="$started $second"
tries=0
until [ "$(sinfo -h -o %t -N 2>/dev/null | grep -c idle)" = 2 ]; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || fail "the two nodes did not come up"
    sleep 0.2
done

export SOURCE_DATE_EPOCH=1700000000
options="--suite smoke --kernel *-recurrent-f32 --device cpu"
"$build/attest" gate $options --quiet --out "$dir/one" >/dev/null
one=$?
cat >"$dir/batch" <<END
#!/bin/sh
#SBATCH --array=1-6 --ntasks=1 --cpus-per-task=1 --requeue --open-mode=append --output=$dir/slurm-%a.out
set -f
out=$dir/run/shard-\$SLURM_ARRAY_TASK_ID
resume=\$(test -f \$out/run.json && echo --resume)
echo "on \$SLURMD_NODENAME, restart \${SLURM_RESTART_COUNT:-0} \$resume"
$build/attest gate $options --jobs 1 --quiet \$resume --out \$out
END
job=$(sbatch --parsable "$dir/batch") || fail "sbatch"

# Catches a shard on the second node in its middle: its gate is stopped first, or it would end while it is looked at.
killed= tries=0
while [ -z "$killed" ]; do
    for i in $(squeue -h -r -j "$job" -w n2 -t running -o %K 2>/dev/null); do
        [ -s "$dir/run/shard-$i/results.jsonl" ] || continue
        gate=$(ps -eo pid=,args= | awk -v out="$dir/run/shard-$i" '/attest gate/ && $NF == out {print $1}')
        [ -n "$gate" ] && kill -STOP $gate 2>/dev/null || continue
        grep -q '"finished": 0' "$dir/run/shard-$i/run.json" && killed=$i || kill -CONT $gate
    done
    tries=$((tries + 1))
    [ $tries -lt 6000 ] && [ -n "$(squeue -h -j "$job" 2>/dev/null)" ] || fail "no shard was caught on the second node"
    sleep 0.02
done
# All that runs there: the daemon, and what it started, which says so in its environment.
first="$second"
for process in /proc/[0-9]*; do
    { tr '\0' '\n' <"$process/environ"; } 2>/dev/null >"$dir/environ" || continue
    grep -qx 'SLURMD_NODENAME=n2' "$dir/environ" && grep -q "^SLURM_CONF=$dir/" "$dir/environ" &&
        first="$first ${process#/proc/}"
done
steps=$(ps -eo pid=,ppid=,comm= | awk -v parent="$second" '$2 == parent || $3 == "slurmstepd" {print $1}')
for step in $steps; do
    { tr '\0' '\n' <"/proc/$step/environ"; } 2>/dev/null >"$dir/environ"
    grep -q "^SLURM_CONF=$dir/" "$dir/environ" && for child in $(ps -o pid= --ppid "$step"); do
        case " $first " in *" $child "*) first="$first $step" ;; esac
    done
done
kill -9 $first 2>/dev/null
kept=$(wc -l <"$dir/run/shard-$killed/results.jsonl")
tries=0
while [ -n "$(squeue -h -j "$job" 2>/dev/null)" ]; do
    tries=$((tries + 1))
    [ $tries -lt 1200 ] || fail "the array did not end: $(squeue -h -r -j "$job" | tr '\n' ';')"
    sleep 0.5
done
grep -q 'on n1, restart 1 --resume' "$dir/slurm-$killed.out" || fail "shard $killed did not go on elsewhere"
"$build/attest" merge "$dir"/run/shard-* --quiet --out "$dir/all" >/dev/null
[ $? = $one ] || fail "the merge has another exit code than one run"
python3 "$here/tests/verify/shard/same.py" "$dir/one" "$dir/all" || fail "the merge is not the run of one piece"
echo "slurm: node n2 killed in shard $killed with $kept results, which went on on n1; $(sinfo -h -N -o '%N %t' | tr '\n' ';')"
