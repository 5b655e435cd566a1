#!/usr/bin/env bash
# The whole registered matrix with one command: builds the program, carries out matrix/preregistered.toml and writes
# raw records, CSV and tables into results/NAME.
#
#   ./runs.sh                  the full matrix (about an hour)
#   ./runs.sh --quick          the same cells, 2 s each, one round (about 5 minutes): shows that all works, measures nothing
#   ./runs.sh [any flags of `tpccbench run`: --out DIR, --device sd=DIR, --resume, --only GLOB, ...]
set -euo pipefail
cd "$(dirname "$0")"
for flag in "$@"; do
	case "$flag" in -h | --help)
		sed -n '2,/^set /s/^# \{0,1\}//p' runs.sh
		exit 0
		;;
	esac
done
. ./setup.sh
build

quick=
out=
flags=()
while [ $# -gt 0 ]; do
	case "$1" in
	--quick) quick=1 ;;
	--out)
		[ $# -gt 1 ] || die "--out needs a folder"
		out=$2
		shift
		;;
	--out=*) out=${1#--out=} ;;
	*) flags+=("$1") ;;
	esac
	shift
done
[ -n "$out" ] || out=results/$([ -n "$quick" ] && echo quick || echo preregistered)-$(date -u +%Y%m%d-%H%M%S)

bin/tpccbench run matrix/preregistered.toml --out "$out" ${quick:+--quick} ${flags[@]+"${flags[@]}"}
python3 tables.py "$out" --write
echo
cat "$out/tables.md"
