# checkpoint and restore by criu(8), where there is one that works on this kernel.
# shellcheck shell=bash

load helpers.bash

setup_file() {
	suite_setup_file
}

teardown_file() {
	suite_teardown_file
}

setup() {
	suite_setup
	cd "$T"
	# it counts, so that a restored one is seen to go on
	sh_args 'i=0; while :; do i=$((i + 1)); echo $i >/tmp/count; sleep 0.1; done'
	edit '.root.readonly = false'
}

teardown() {
	suite_teardown
}

# What this host's criu ($CRIU: another one) can do; a test that needs it is skipped with the reason.
needs_criu() {
	command -v "${CRIU-criu}" >/dev/null || skip "criu is not installed"
	"${CRIU-criu}" check >"$T/criu" 2>&1 || skip "criu check fails on this kernel: $(tail -n 1 "$T/criu")"
	[ -z "${CRIU-}" ] || AGENTRUN_FLAGS="${AGENTRUN_FLAGS-} --criu $CRIU"
}

# It may be looked at while it is written.
count() {
	local n
	n=$(cat "$ROOTFS/tmp/count" 2>/dev/null || true)
	echo "${n:-0}"
}

counts_on() {
	local before
	before=$(count)
	wait_for 30 eval "[ \"\$(count)\" -gt $before ]"
}

# With no file of the host open: criu cannot save one.
begin() {
	rt run --detach --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&-
	wait_for 30 eval '[ "$(count)" -gt 2 ]'
}

@test "checkpoint: a container is saved and deleted, and goes on where it was" {
	needs_criu
	edit --arg f "$T/hook" '.hooks.createRuntime = [{path: "/bin/sh", args: ["sh", "-c", "cat >>\"$1\"", "-", $f]}]'
	begin
	call checkpoint --image-path "$T/images" "$ID"
	works
	[ -s "$T/images/descriptors.json" ]
	[ -s "$T/images/dump.log" ]
	call state "$ID"
	fails 1 'container does not exist'
	saved=$(count)
	sleep 0.3
	[ "$(count)" -eq "$saved" ]
	call restore --detach --bundle "$BUNDLE" --image-path "$T/images" --pid-file pid "$ID"
	works
	call state "$ID"
	[ "$(jq -r .status <<<"$output")" = running ]
	[ "$(jq .pid <<<"$output")" = "$(cat pid)" ]
	# hooks of a start run again, for the new first process
	[ "$(jq -s length "$T/hook")" -eq 2 ]
	[ "$(jq -s '.[1].pid' "$T/hook")" = "$(cat pid)" ]
	counts_on
	[ "$(count)" -gt "$saved" ]
	call exec "$ID" sh -c 'echo $PPID; cat /proc/1/comm'
	exits 0 $'0\nsh'
	call kill "$ID" KILL
	works
	wait_for 30 eval '[ "$(rt state "$ID" | jq -r .status)" = stopped ]'
	call delete "$ID"
	works
}

@test "checkpoint --leave-running: the container stays, limits and mounts come back with the copy" {
	needs_criu
	mkdir "$T/shared"
	echo words >"$T/shared/file"
	edit --arg s "$T/shared" '.mounts += [{destination: "/shared", type: "bind", source: $s, options: ["bind", "ro"]}] |
		.linux.resources.pids.limit = 77'
	begin
	call checkpoint --leave-running --image-path "$T/images" --work-path "$T/work" "$ID"
	works
	[ -s "$T/work/dump.log" ]
	counts_on
	call delete --force "$ID"
	works
	call restore -d --bundle "$BUNDLE" --image-path "$T/images" --work-path "$T/work" "$ID"
	works
	call exec "$ID" sh -c 'cat /shared/file; touch /shared/no 2>/dev/null || echo read-only'
	exits 0 $'words\nread-only'
	[ "$(cat "$(rt state "$ID" >/dev/null && jq -r '.cgroupDirs[] | select(.controllers | test("pids") or . == "") | .path' "$ROOT/$ID/state.json" |
		while read -r d; do [ ! -e "$d/pids.max" ] || echo "$d"; done | head -n 1)/pids.max")" = 77 ]
}

@test "restore in the foreground: the exit status is the program's, and nothing is left" {
	needs_criu
	sh_args 'echo 3 >/tmp/count; while [ ! -e /tmp/go ]; do sleep 0.1; done; exit 7'
	begin
	call checkpoint --image-path "$T/images" "$ID"
	works
	touch "$ROOTFS/tmp/go"
	call restore --bundle "$BUNDLE" --image-path "$T/images" "$ID"
	[ "$status" -eq 7 ]
	call state "$ID"
	fails 1 'container does not exist'
}

@test "checkpoint and restore refuse what makes no sense, and leave nothing" {
	call checkpoint "$ID"
	fails 1 'container does not exist'
	call create --bundle "$BUNDLE" "$ID"
	works
	call checkpoint --image-path "$T/images" "$ID"
	fails 1 'container cannot be checkpointed in created state'
	call start "$ID"
	works
	for bad in '--parent-path /abs' '--parent-path missing' '--manage-cgroups-mode some' '--empty-ns mount' '--page-server here'; do
		# shellcheck disable=SC2086
		call checkpoint --image-path "$T/images" $bad "$ID"
		bad=${bad%% *}
		fails 1 "${bad#--}"
	done
	call checkpoint --image-path "$T/none/deep" "$ID"
	fails 1 'make the folder .*none/deep'
	AGENTRUN_FLAGS="${AGENTRUN_FLAGS-} --criu $T/no-criu"
	call checkpoint --image-path "$T/images" "$ID"
	fails 1 "$T/no-criu cannot be run: --criu names"
	AGENTRUN_FLAGS=${AGENTRUN_FLAGS% --criu *}
	# what others could have written
	mkdir -m 777 "$T/open"
	chmod 777 "$T/open"
	call checkpoint --image-path "$T/open" "$ID"
	fails 1 "folder $T/open belongs to uid 0 and has mode 0777"
	# it goes on
	counts_on
	call restore --detach --bundle "$BUNDLE" --image-path "$T/missing" "$ID-b"
	fails 1 "open the folder $T/missing"
	call state "$ID-b"
	fails 1 'container does not exist'
	call delete --force "$ID"
	works
}

@test "an annotation gives criu no options that others could have written" {
	echo action-script=/tmp/evil >"$T/options"
	chmod 666 "$T/options"
	edit --arg f "$T/options" '.annotations["org.criu.config"] = $f'
	call run --detach --bundle "$BUNDLE" "$ID"
	works
	call checkpoint --image-path "$T/images" "$ID"
	fails 1 "options for criu: .*$T/options is writable by others"
	has_status running
	call delete --force "$ID"
	works
}

@test "a container under the policy is neither saved nor restored: its controls would be lost" {
	AGENTRUN_FLAGS='--profile default'
	call run --detach --bundle "$BUNDLE" "$ID"
	works
	call checkpoint --image-path "$T/images" "$ID"
	fails 1 'under profile "default".*only profile "passthrough"'
	[ ! -e "$T/images" ]
	mkdir "$T/images"
	call restore --detach --bundle "$BUNDLE" --image-path "$T/images" "$ID-b"
	fails 1 'under profile "default"'
	call delete --force "$ID"
	works
}
