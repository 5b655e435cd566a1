#!/usr/bin/env bash
# All tests, in 15 to 25 minutes on two cores: formatting, vet, staticcheck, unit and conformance tests with the race
# detector, the command-line scripts, a quick matrix on a memory file system and on the disk, and the committed tables
# regenerated from their raw records.
set -euo pipefail
cd "$(dirname "$0")"
. ./setup.sh

step() { printf '\n== %s\n' "$*"; }

step "format, vet, staticcheck"
unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || die "not formatted by gofmt: $unformatted"
go vet ./...
go tool staticcheck ./...

# The program without LMDB, which most machines lack.
go vet -tags= ./engines/lmdb ./cmd/tpccbench
go tool staticcheck -tags= ./engines/lmdb ./cmd/tpccbench

step "build"
build

step "quick matrix on memory and disk"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
bin/tpccbench run matrix/preregistered.toml --quick --out "$out/quick"
python3 tables.py "$out/quick" --write
python3 tables.py "$out/quick" --check

step "tables and verdicts of the committed results, from their raw records"
for study in results/*/; do
	[ -d "$study/raw" ] || continue
	python3 tables.py "$study" --check
	code=0
	bin/tpccbench verdict --json --no-file "$study" >"$out/verdict" 2>"$out/why" || code=$?
	case $code in
	0 | 3) ;; # 3: it is whole, and something cannot be decided
	1)        # a part of a plan, run with --only, lacks the rest; nothing else may be wrong with it
		python3 -c 'import json, sys; sys.exit(any(p["kind"] != "missing" for p in json.load(sys.stdin)["problems"]))' <"$out/verdict" ||
			die "$study: $(cat "$out/verdict")" ;;
	*) die "$study: $(cat "$out/why")" ;;
	esac
done
python3 -m unittest -q tables_test

# With the race detector the conformance suites and the store's attacks run in their short form; without it, whole. Only
# without it: the command line, whose own tests start programs and wait for them, and the packages with one goroutine.
step "tests, race detector, short"
go test -race -short -timeout 20m $(go list ./... | grep -Ev '^tpccbench/((cmd|internal|matrix|probe|record|report)(/|$)|tpcc$)')

go test -tags= ./engines/lmdb

step "tests"
go test -timeout 20m ./...
