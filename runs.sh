#!/usr/bin/env bash
# A whole registered plan with one command: builds the program, carries the plan out and writes raw records, CSV, tables,
# verdict and report into results/NAME.
#
#   ./runs.sh                  matrix/preregistered.toml, the study (about an hour)
#   ./runs.sh --quick          the same cells, 2 s each, one round (about 5 minutes): shows that all works, measures nothing
#   ./runs.sh --plan FILE      another plan: matrix/scaling.toml (an hour), matrix/long.toml (two hours), or one of your own
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

plan=matrix/preregistered.toml
quick=
out=
flags=()
while [ $# -gt 0 ]; do
	case "$1" in
	--quick) quick=1 ;;
	--out | --plan)
		[ $# -gt 1 ] || die "$1 needs a $([ "$1" = --out ] && echo folder || echo file)"
		case "$1" in --out) out=$2 ;; *) plan=$2 ;; esac
		shift
		;;
	--out=*) out=${1#--out=} ;;
	--plan=*) plan=${1#--plan=} ;;
	*) flags+=("$1") ;;
	esac
	shift
done
[ -n "$out" ] || out=results/$([ -n "$quick" ] && echo quick || basename "$plan" .toml)-$(date -u +%Y%m%d-%H%M%S)

# A run that broke a gate (1) is kept and shown; anything else ends here.
code=0
bin/tpccbench run "$plan" --out "$out" ${quick:+--quick} ${flags[@]+"${flags[@]}"} || code=$?
[ $code -le 1 ] || exit $code
[ -e "$out/matrix.csv" ] || exit $code # not a run was made

python3 tables.py "$out" --write
echo
cat "$out/tables.md"
echo
# 3: a decision of the plan cannot be decided, which the verdict says.
verdict=0
bin/tpccbench verdict "$out" || verdict=$?
[ $verdict = 0 ] || [ $verdict = 3 ] || code=$verdict
bin/tpccbench report "$out" || code=$?
exit $code
