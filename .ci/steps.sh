# What the gate (.ci/run) and the long run (.ci/all) share. It is sourced at the root of the checkout.

# Collecting garbage less often saves compilers a quarter of their CPU time, and the embedded server a twelfth. It costs memory, which
# is there.
export GOGC="${GOGC:-400}"

said=$(mktemp -d)
beside= # the group of processes that runs beside the steps, if there is one
trap '[ -z "$beside" ] || kill -- "-$beside"; rm -rf "$said"' EXIT
times="$said/times"
failures="$said/failures"
touch "$times" "$failures"
tools="${XDG_CACHE_HOME:-$HOME/.cache}/process-idea"

# step NAME COMMAND… runs a command, and notes its seconds and what failed. The steps after a failed one run all the same: who mends a
# change wants to know of everything that it broke.
step() {
	local name=$1 begun=$SECONDS status=0 output
	shift
	output=$(mktemp "$said/step.XXXXXX") # one for each: two may run at a time
	echo "== $name"
	"$@" 2>&1 | tee "$output" || status=$?
	printf '%6d s  %s\n' $((SECONDS - begun)) "$name" >>"$times"
	[ "$status" = 0 ] && return
	{
		echo "-- $name"
		grep -E -e '--- FAIL' -e '^FAIL' -e '^ +[a-z_]+_test\.go:[0-9]+: ' -e 'DATA RACE' -e '^panic: ' \
			-e '^\s+Test[^ ]* \([0-9hms.]+\)$' -e '^[^ ]+\.go:[0-9]+:' \
			-e 'FALLS SHORT' -e 'DID NOT RUN' "$output" | cut -c1-500 || tail -n 5 "$output"
	} >>"$failures"
}

# beside COMMAND… runs a command of one or more steps beside those that follow, at the lowest priority: what computes, beside what waits.
# There can be one: a second waits for the first. What it says is printed when it ends, so that no two steps mix their lines.
beside() {
	[ -z "$beside" ] || joined
	mkdir -p "$said/beside"
	: >"$said/beside/times"
	: >"$said/beside/failures"
	set -m # a group of its own, so that the end of the run ends all of it
	(
		renice -n 19 -p "$BASHPID" >/dev/null
		times="$said/beside/times" failures="$said/beside/failures"
		"$@"
		exit 0 # its steps have noted what failed
	) </dev/null >"$said/beside/said" 2>&1 &
	beside=$!
	set +m
}

# joined waits for the command that runs beside, and notes its seconds and what failed in it with those of the other steps.
joined() {
	local status=0
	wait "$beside" || status=$?
	beside=
	cat "$said/beside/said"
	cat "$said/beside/times" >>"$times"
	cat "$said/beside/failures" >>"$failures"
	[ "$status" = 0 ] || echo "-- what ran beside the other steps ended early, with status $status" >>"$failures"
}

# conclude prints the seconds of each step and what failed, and ends with the status of the whole.
conclude() {
	[ -z "$beside" ] || joined
	echo "== seconds"
	cat "$times"
	printf '%6d s  %s\n' "$SECONDS" "in all"
	[ -s "$failures" ] || exit 0
	echo "== what failed"
	cat "$failures"
	exit 1
}

# install PROGRAM:PACKAGE… installs the Debian packages whose program is missing, where that is allowed. Tests that need one that is
# missing say that they are skipped.
install() {
	local missing=
	for wanted in "$@"; do
		command -v "${wanted%%:*}" >/dev/null || missing="$missing ${wanted#*:}"
	done
	[ -n "$missing" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
	apt-get update -qq || true # an old list may do
	# shellcheck disable=SC2086 # a list of packages
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing ||
		echo "could not be installed:$missing; tests that need one are skipped"
}

# acceptance ARGUMENT… plays the cases from outside, where their folder lies beside the checkout.
acceptance() {
	if [ -x ../shared/acceptance/run ]; then
		../shared/acceptance/run "$@"
	else
		echo "left out: there is no folder ../shared/acceptance"
	fi
}
