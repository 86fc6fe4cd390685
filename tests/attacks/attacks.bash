# Shared by the attack suites: the canary, the probe, and the checks that an attack failed.
# Each test acts as an image, a container or an unprivileged user that wants to get at the
# host, and asserts that the host is as it was.
# shellcheck shell=bash

load ../integration/helpers.bash

# attack_setup_file PROGRAM: as for the command line suites, and the program in the root file systems.
attack_setup_file() {
	suite_setup_file
	# made beforehand, or here
	if [ -z "${ATTACK_PROGRAMS-}" ]; then
		export ATTACK_PROGRAMS=$BATS_FILE_TMPDIR/programs
		"$BATS_TEST_DIRNAME/helpers/build" "$ATTACK_PROGRAMS" || skip "no compiler for static programs"
	fi
	cp "$ATTACK_PROGRAMS/$1" "$BATS_FILE_TMPDIR/rootfs/bin/"
}

# attack_setup: a bundle, and a folder of the host that no test may change.
attack_setup() {
	suite_setup
	CANARY=$T/canary
	mkdir -p "$CANARY/dir"
	echo secret >"$CANARY/file"
	cp "$BATS_FILE_TMPDIR/rootfs/bin/busybox" "$CANARY/busybox"
	ln -s file "$CANARY/link"
	mkfifo "$CANARY/ptmx"
	chmod -R u=rwX,go= "$CANARY"
	BEFORE=$(fingerprint "$CANARY")
}

attack_teardown() {
	local status=0
	is_set_up || return 0
	canary_untouched || status=1
	suite_teardown
	return $status
}

# fingerprint DIR: names, types, owners, modes, times and contents of all that is below.
fingerprint() {
	find "$1" -printf '%P %y %m %U:%G %T@ %l\n' | sort
	find "$1" -type f -exec sha256sum {} + | sort
}

canary_untouched() {
	local after
	after=$(fingerprint "$CANARY")
	if [ "$after" != "$BEFORE" ]; then
		echo "the canary was changed:"
		diff <(echo "$BEFORE") <(echo "$after")
		return 1
	fi
}

# lacks TEXT...: neither output has any of them.
lacks() {
	local text
	for text in "$@"; do
		if [[ $output == *"$text"* || $errors == *"$text"* ]]; then
			report
			echo "must not be there: $text"
			return 1
		fi
	done
}

# refused: it failed, and nothing stayed.
refused() {
	if [ "$status" -eq 0 ]; then
		report
		echo "was expected to fail"
		return 1
	fi
	clean
}

# grant CAPABILITY...: the container's process gets these, too.
grant() {
	local name
	for name in "$@"; do
		edit --arg c "$name" '.process.capabilities |= with_entries(if .key == "inheritable" or .key == "ambient"
			then . else .value += [$c] end)'
	done
}

# other_bundle [JQ FILTER]: $T/other, a second bundle on the same root file system that sleeps.
other_bundle() {
	mkdir -p "$T/other"
	jq --arg r "$ROOTFS" --arg c "$CGROUP/other" '.root.path = $r | .process.args = ["sleep", "1000"]
		| .linux.cgroupsPath = $c' "$BUNDLE/config.json" | jq "${1-.}" >"$T/other/config.json"
}

start_other() {
	call create --bundle "$T/other" other
	works
	call start other
	works
}

without_mount() {
	edit --arg d "$1" '.mounts |= map(select(.destination != $d))'
}

# calls_with_descriptors COMMAND...: as call, with host folders open at 3 to 9, as a careless
# engine might.
call_leaking() {
	call "$@" 4<"$CANARY" 5</ 6</proc 7</sys/fs/cgroup 8<"$CANARY/file" 9<"$T"
}

# absent REGEX FILE...: no line of the files matches (a "! grep" would not end a test).
absent() {
	if grep -E "$@"; then
		echo "must not be there"
		return 1
	fi
}
