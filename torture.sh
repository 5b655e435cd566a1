#!/usr/bin/env bash
# The attacks on the stores' durability, for as long as you like: the long forms of the tests that test.sh runs for a few
# seconds. Each part prints its seed, what it counted, and how a failure is made again; the table at the end has them all.
#
#   ./torture.sh --minutes 10             ten minutes, shared among the parts
#   ./torture.sh --minutes 60 --seed 7    with this seed, instead of one from the clock
#   ./torture.sh --minutes 5 --only 'power-cuts|fuzz.*'   only the parts whose name matches
#   ./torture.sh --minutes 10 --disk DIR  the kills on a disk happen in DIR, instead of the directory for temporary files
#
# Compiling comes before the time is counted. The exit code is 1 if anything failed. Some parts need root (small file
# systems) or strace (kills at the Nth call); without it they are skipped, and the table says so.
set -euo pipefail
cd "$(dirname "$0")"

minutes=
seed=
only=.*
disk=${TMPDIR:-/tmp}
usage() { sed -n '2,/^set /s/^# \{0,1\}//p' torture.sh | sed '$d'; }
while [ $# -gt 0 ]; do
	case "$1" in
	-h | --help)
		usage
		exit 0
		;;
	--minutes | --seed | --only | --disk)
		[ $# -gt 1 ] || {
			echo "torture.sh: $1 needs a value" >&2
			exit 2
		}
		declare "${1#--}=$2"
		shift
		;;
	*)
		echo "torture.sh: unknown argument $1; see ./torture.sh --help" >&2
		exit 2
		;;
	esac
	shift
done
[[ $minutes =~ ^[1-9][0-9]*$ ]] || {
	echo "torture.sh: --minutes is '$minutes'; it must be a whole number of at least 1" >&2
	exit 2
}
[ -n "$seed" ] || seed=$(date +%s)
[[ $seed =~ ^[0-9]+$ && ${#seed} -le 14 ]] || {
	echo "torture.sh: --seed is '$seed'; it must be a whole number of at most 14 digits" >&2
	exit 2
}
seed=$((10#$seed))
[ -d "$disk" ] || {
	echo "torture.sh: --disk is '$disk'; it must be a directory" >&2
	exit 2
}
disk=$(cd "$disk" && pwd)
. ./setup.sh
command -v strace >/dev/null 2>&1 || (need strace strace) || echo "without strace no process is killed at its Nth call" >&2

store=$PWD/engines/pure/store
main=$PWD/cmd/tpccbench
# Everything is below this folder, which is on the disk, and what the tests call the directory for temporary files too.
work=$(mktemp -d -p "$disk" torture-XXXXXXXX)
export TMPDIR=$work
cleanup() { # also after a test was interrupted
	awk -v below="$work/" 'index($2, below) == 1 { print $2 }' /proc/mounts | xargs -r umount -l || true
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

echo "compiling the tests"
build
go test -c -o "$work/store.test" ./engines/pure/store
go test -race -c -o "$work/store.race.test" ./engines/pure/store
go test -c -o "$work/main.test" ./cmd/tpccbench
go test -c -o "$work/wire.test" ./wire

# A part is a line: name, weight, and what runs it: a function that is given the seconds. Weights say how the time is
# shared.
parts=()
part() { [[ ! $1 =~ ^($only)$ ]] || parts+=("$1 $2 ${*:3}"); }

# random FOLDER BINARY TEST SECONDS: a test that goes on for so long by itself (package internal/attack).
random() {
	(cd "$1" && TORTURE_SEED=$seed TORTURE_SECONDS=$4 "$work/$2" -test.count=1 -test.timeout=0 -test.v -test.run "^$3\$")
}

# once FOLDER BINARY TESTS SECONDS: tests that are run again and again until the time is over, each from a seed of its own.
once() {
	local end=$((SECONDS + $4)) n=0
	while [ $n = 0 ] || [ $SECONDS -lt $end ]; do
		(cd "$1" && TORTURE_SEED=$((seed + n)) "$work/$2" -test.count=1 -test.timeout=0 -test.v -test.run "^($3)\$") | tee "$work/chunk" || return 1
		echo "figures: passes=$(grep -c -- '^--- PASS' "$work/chunk" || true)"
		n=$((n + 1))
	done
}

# schedules TEST SECONDS: power cuts over the file system in memory, by schedules of consecutive seeds.
schedules() {
	local end=$((SECONDS + $2)) first=$seed chunk=50
	while [ "$first" = "$seed" ] || [ $SECONDS -lt $end ]; do
		(cd "$store" && CRASH_SEED=$first CRASH_SCHEDULES=$chunk "$work/store.test" -test.count=1 -test.timeout=0 -test.v -test.run "^$1\$") |
			tee "$work/chunk"
		# The test says it in words.
		sed -nE "s/.* ([0-9]+) schedules, ([0-9]+) reopened stores.*/figures: seed=$first schedules=\1 reopened=\2/p" "$work/chunk"
		if ! grep -q '^ok\|^PASS' "$work/chunk"; then
			echo "replay: in engines/pure/store, CRASH_SEED=N CRASH_SCHEDULES=1 go test -count=1 -v -run '^$1\$' . with the seed N above"
			return 1
		fi
		first=$((first + chunk))
	done
}

histories() {
	local end=$((SECONDS + $1)) n=0 checks=100
	while [ $n = 0 ] || [ $SECONDS -lt $end ]; do
		# rapid prints, on a failure, the flags that make it again.
		(cd "$work" && "$work/store.test" -test.count=1 -test.timeout=0 -test.v -test.run '^TestHistories$' \
			-rapid.checks=$checks -rapid.seed=$((seed + n + 1)) -rapid.nofailfile) || return 1
		echo "figures: seed=$((seed + n + 1)) histories=$checks"
		n=$((n + 1))
	done
}

# fuzzing FOLDER TARGET SECONDS: Go writes an input that fails to testdata/fuzz, where every later `go test` tries it.
fuzzing() {
	local status=0
	(cd "$1" && go test -run '^$' -fuzz "^$2\$" -fuzztime "${3}s" -fuzzminimizetime 1s .) | tee "$work/chunk" || status=1
	local execs
	execs=$(sed -nE 's/.*execs: ([0-9]+) .*/\1/p' "$work/chunk" | tail -1)
	echo "figures: inputs=${execs:-0}"
	[ $status = 0 ] || echo "replay: in ${1#"$PWD"/}, go test -run '^$2\$' . with the file that is named above"
	return $status
}

# audits ENGINE DEVICE SECONDS [SETTINGS]: kill loops by the command itself.
audits() {
	local end=$((SECONDS + $3)) n=0 kills=5 out
	while [ $n = 0 ] || [ $SECONDS -lt $end ]; do
		# Ten minutes are no measure of an audit: they are for one that hangs.
		if ! timeout 600 bin/tpccbench audit --engine "$1" --device "$2" --kills $kills --seed $((seed + n)) "${@:4}" | tee "$work/chunk"; then
			echo "replay: bin/tpccbench audit --engine $1 --device $2 --kills $kills --seed $((seed + n)) ${*:4}"
			return 1
		fi
		out=$(sed -nE 's/.*: ([0-9]+) kills, ([0-9]+) acknowledged writes.*/kills=\1 reopened=\1 acknowledged=\2/p' "$work/chunk")
		[ -n "$out" ] || {
			echo "the audit does not say what it found"
			return 1
		}
		echo "figures: seed=$((seed + n)) $out"
		n=$((n + 1))
	done
}
audit_pure() {
	audits pure "$1" $(($2 / 2))
	audits pure "$1" $(($2 - $2 / 2)) --set checkpoint_min_bytes=262144 --set checkpoint_log_ratio=0.1 --set log_segment_bytes=1048576
}

# garbage SECONDS: garbage thrown at a server beside 64 busy terminals.
garbage() {
	(cd "$PWD/wire" && "$work/wire.test" -test.count=1 -test.timeout=0 -test.v -test.run '^TestGarbageMinute$' -garbage "${1}s")
}

part power-cuts 12 schedules TestPowerCut
part kills-then-power-cuts 6 schedules TestKillThenPowerCut
part power-cuts-of-liars 1 once "$store" store.test TestLiars
part bit-flips 8 random "$store" store.test TestBitRot
part lost-pieces 6 random "$store" store.test TestLostPieces
part each-operation-fails 3 once "$store" store.test TestFailingDevice
part failing-device 8 random "$store" store.race.test TestFailingNowAndThen
part histories 6 histories
part snapshots-race 7 random "$store" store.race.test TestSnapshots
part concurrent-race 2 once "$store" store.race.test TestConcurrent
part killed-at-operation 7 random "$store" store.test TestKilledAtOperation
part killed-at-call 6 random "$main" main.test TestKilledAtCall
part limits-of-store 4 once "$store" store.test "TestDiskFull|TestLoadOnFullDisk|TestFileSizeLimit|TestReadOnly|TestSecondProcess"
part limits-of-engines 2 random "$main" main.test TestDiskFull
part limits-of-commands 1 once "$main" main.test TestCommandsOnLimits
devices=(ram=/dev/shm)
case $(stat -f -c %T "$disk") in
tmpfs | ramfs) echo "$disk is on a memory file system: nothing is killed on a disk; give a directory on one with --disk" >&2 ;;
*) devices+=("disk=$work") ;;
esac
for device in "${devices[@]}"; do
	part "kills-pure-${device%%=*}" 3 audit_pure "$device"
	for engine in sqlite sqlitegrouped; do
		part "kills-$engine-${device%%=*}" 2 audits "$engine" "$device"
	done
done
part garbage-over-http 3 garbage
part flushes-of-liars 1 once "$main" main.test TestFlushesOfLiars
while read -r file target; do
	part "fuzz-${target#Fuzz}" 2 fuzzing "$PWD/$(dirname "$file")" "$target"
done < <(grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9]*' engines/pure wire | sed 's/:func / /' | sort)

[ ${#parts[@]} -gt 0 ] || die "--only '$only' matches no part"
weights=0
for p in "${parts[@]}"; do
	read -r _ weight _ <<<"$p"
	weights=$((weights + weight))
done

failures=0
rows=()
for p in "${parts[@]}"; do
	read -r name weight call <<<"$p"
	# The whole time is shared among the weights; a part has a second at least.
	seconds=$((minutes * 60 * weight / weights))
	[ $seconds -gt 0 ] || seconds=1
	printf '\n== %s: seed %d, %d s\n' "$name" "$seed" "$seconds"
	began=$SECONDS
	read -ra words <<<"$call"
	status=0
	"${words[@]}" "$seconds" >"$work/log" 2>&1 || status=$?
	result=$(awk '
		/figures:/ {
			sub(/.*figures: /, "")
			for (i = 1; i <= NF; i++) { split($i, f, "="); if (f[1] != "seed") { if (!(f[1] in sum)) name[++n] = f[1]; sum[f[1]] += f[2] } }
		}
		END { for (i = 1; i <= n; i++) printf "%s%s %d", (i > 1 ? ", " : ""), name[i], sum[name[i]] }' "$work/log")
	verdict=passed
	if [ $status != 0 ]; then
		verdict=FAILED
		failures=$((failures + 1))
		grep -v '^=== ' "$work/log" | tail -40
		grep 'replay:' "$work/log" || true
	elif grep -q -- '--- SKIP' "$work/log"; then
		verdict=skipped
		! grep -q -- '^--- PASS' "$work/log" || verdict="in part"
		grep -A1 -- '--- SKIP' "$work/log" | tail -2
	elif [ -z "$result" ]; then
		verdict=FAILED
		failures=$((failures + 1))
		echo "it counted nothing"
		tail -20 "$work/log"
	fi
	echo "$verdict: ${result:-nothing was counted}"
	rows+=("$(printf '%-24s %6d s  %-8s %s' "$name" $((SECONDS - began)) "$verdict" "$result")")
done

printf '\n== %d minutes, seed %d, commit %s\n' "$minutes" "$seed" "$(git rev-parse --short HEAD 2>/dev/null || echo unknown)"
printf '%s\n' "${rows[@]}"
printf '%s\n' "${rows[@]}" | awk '
	{ sub(/^[^ ]+ +[0-9]+ s +(passed|FAILED|skipped|in part) */, ""); k = split($0, f, ", "); for (i = 1; i <= k; i++) { split(f[i], w, " "); sum[w[1]] += w[2] } }
	END {
		k = split("schedules reopened flips erasures truncations errors histories kills acknowledged full inputs saves views held", order, " ")
		printf "in all:"
		for (i = 1; i <= k; i++) printf "%s %s %d", (i > 1 ? "," : ""), order[i], sum[order[i]]
		printf "\n"
	}'
echo "$failures parts failed"
[ $failures = 0 ] || exit 1
