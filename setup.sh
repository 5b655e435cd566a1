# Sourced by runs.sh and test.sh (bash): what both need. It installs what is missing where it can (as root, with apt)
# and otherwise says in one line what to install. It sets the compiler flags that every build of this project must
# have, and defines build().

# SQLite calls fsync where it could call fdatasync unless it is told that the system has it. CGO_CFLAGS replaces Go's
# own default of "-g -O2", so the optimisation stands here too: without it SQLite would run at a fraction of its speed.
export CGO_ENABLED=1
export CGO_CFLAGS="-g -O2 -DHAVE_FDATASYNC=1"

die() {
	echo "$(basename "$0"): $*" >&2
	exit 2
}

# need COMMAND PACKAGE: COMMAND is there, or can be installed from Debian's or Ubuntu's PACKAGE.
need() {
	command -v "$1" >/dev/null 2>&1 && return
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
		echo "installing $2 for the missing command $1" >&2
		apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$2" >/dev/null ||
			die "could not install the package $2; install it by hand and start again"
	else
		die "the command $1 is missing; install it (Debian, Ubuntu: apt-get install $2) and start again"
	fi
}

need gcc build-essential
need git git
need python3 python3
[ -x /usr/local/go/bin/go ] && ! command -v go >/dev/null 2>&1 && PATH=$PATH:/usr/local/go/bin
need go golang-go

# Go 1.21 and later fetch the toolchain that go.mod names by themselves.
case "$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null)" in
go1.[0-9] | go1.[0-9].* | go1.1[0-9]* | go1.20*) die "this Go is too old: install Go 1.21 or later from go.dev/dl" ;;
esac

# The engine lmdb is built where LMDB's header is there: from Debian's or Ubuntu's liblmdb-dev. Everything else works
# without it.
have_lmdb() { echo '#include <lmdb.h>' | gcc -E - >/dev/null 2>&1; }
if ! have_lmdb && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	echo "installing liblmdb-dev for the engine lmdb" >&2
	{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq liblmdb-dev; } >/dev/null 2>&1 || true
fi
if have_lmdb; then
	export GOFLAGS="${GOFLAGS:+$GOFLAGS }-tags=lmdb"
else
	echo "lmdb.h is missing, so the engine lmdb is not built (Debian, Ubuntu: apt-get install liblmdb-dev)" >&2
fi

# build: makes bin/tpccbench, with the commit that it was built from inside. Without git's data the program still
# builds, and its results are marked exploratory.
build() {
	local commit changed=true
	commit=$(git rev-parse HEAD 2>/dev/null || true)
	if [ -n "$commit" ] && [ -z "$(git status --porcelain -- . ':(exclude)results')" ]; then
		changed=false
	fi
	go build -buildvcs=false -ldflags "-X tpccbench/study.linkedCommit=$commit -X tpccbench/study.linkedModified=$changed" \
		-o bin/tpccbench ./cmd/tpccbench
}
