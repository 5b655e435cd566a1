#!/bin/sh
# Compares the adapters with the same C code without Go: rounds of C, Go, C, Go ... on copies of one loaded store of one
# warehouse, an equal number of transactions each. Prints every run, the medians, and the ratio Go/C.
#
#   compare.sh MODE [DIR]       MODE: direct, grouped, grouped-best (reads=writer, savepoint=need)
#
# DIR is where the stores lie (default: a new directory in /dev/shm, removed at the end). ROUNDS, TRANSACTIONS, TERMINALS
# and PAGE_SIZE may be set in the environment.
set -eu
mode=${1:?usage: compare.sh direct|grouped|grouped-best [DIR]}
here=$(cd "$(dirname "$0")" && pwd)
repo=$(cd "$here/../../../.." && pwd)
dir=${2:-/dev/shm}
work=$(mktemp -d "$dir/cbench.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM
rounds=${ROUNDS:-5}
transactions=${TRANSACTIONS:-60000}
page=${PAGE_SIZE:-4096}
reads=own savepoint=all
case $mode in
direct) engine=sqlite policy=direct terminals=${TERMINALS:-1} ;;
grouped) engine=sqlitegrouped policy=grouped terminals=${TERMINALS:-64} ;;
grouped-best) engine=sqlitegrouped policy=grouped terminals=${TERMINALS:-64} reads=writer savepoint=need ;;
*) echo "compare.sh: unknown mode $mode; it takes direct, grouped or grouped-best" >&2; exit 2 ;;
esac
checkpoint=40000000
settings="page_size=$page,mmap_size_bytes=1073741824,cache_size_kib=65536,temp_store=memory,wal_checkpoint_bytes=$checkpoint"
[ "$engine" = sqlite ] || settings="$settings,reads=$reads,savepoint=$savepoint"
pragmas="PRAGMA synchronous=FULL;PRAGMA mmap_size=1073741824;PRAGMA cache_size=-65536;PRAGMA temp_store=MEMORY;"
pragmas="${pragmas}PRAGMA wal_autocheckpoint=$((checkpoint / page));"

cd "$repo"
export CGO_CFLAGS="-g -O2 -DHAVE_FDATASYNC=1"
go test -c -o "$work/gobench" "./engines/$engine"
sqlite=$(go list -m -f '{{.Dir}}' github.com/mattn/go-sqlite3)
# The defines are go-sqlite3's own, from its sqlite3.go and sqlite3_load_extension.go.
defines=$(sed -n 's/^#cgo CFLAGS: \(-D.*\)/\1/p' "$sqlite/sqlite3.go" | tr '\n' ' ')
# shellcheck disable=SC2086
gcc $CGO_CFLAGS -std=gnu99 $defines -w -c -o "$work/sqlite3.o" "$sqlite/sqlite3-binding.c"
gcc $CGO_CFLAGS -Wall -Wextra -o "$work/cbench" "$here/main.c" "$here"/../*.c "$work/sqlite3.o" -lpthread -ldl -lm

run_go() {
  SQLBENCH_STORE="$work/store" SQLBENCH_DIR="$work" SQLBENCH_TERMINALS=$terminals SQLBENCH_SETTINGS=$settings \
    "$work/gobench" -test.run '^$' -test.bench '^BenchmarkMix$' -test.benchtime "$1x" |
    sed -n 's/^BenchmarkMix.* \([0-9.]*\) cpu_us\/tx[[:space:]]*\([0-9.]*\) tx\/s.*/\2 tx\/s \1 cpu_us\/tx/p' | tr '\t' ' '
}
run_c() {
  rm -rf "$work/run"
  cp -r "$work/store" "$work/run"
  "$work/cbench" "$work/run/tpcc.db" "$policy" "$terminals" "$transactions" "$reads" "$savepoint" "$pragmas"
  rm -rf "$work/run"
}
run_go 1 >/dev/null # makes the store
round=1
while [ "$round" -le "$rounds" ]; do
  sync
  c=$(run_c)
  sync
  g=$(run_go "$transactions")
  echo "round $round: C $c; Go $g"
  echo "${c%% *} ${g%% *}" >>"$work/figures"
  round=$((round + 1))
done
median() { sort -n | awk '{v[NR]=$1} END {print (v[int((NR+1)/2)]+v[int(NR/2)+1])/2}'; }
c=$(cut -d' ' -f1 "$work/figures" | median)
g=$(cut -d' ' -f2 "$work/figures" | median)
ratio=$(awk '{print $2/$1}' "$work/figures" | median)
echo "$mode, $terminals terminals: C $c tx/s, Go $g tx/s (medians); Go/C $ratio (median of the rounds' ratios)"
