# Sessions over id-mapped mounts: the container sees mapped owners, its layer holds the original's, and so do
# diff, commit and rollback.
# shellcheck shell=bash

load sessions.bash

setup_file() {
	session_setup_file
}

teardown_file() {
	suite_teardown_file
}

setup() {
	session_setup
	in_user_namespace
	chown 7:8 "$WORK/dir/other"
	chmod 666 "$WORK/dir/other"
	chmod 777 "$WORK/dir"
	chown 1000:1001 "$WORK"
	edit '(.mounts[] | select(.destination == "/work")).options += ["idmap"]
		| .process.capabilities |= with_entries(.value += ["CAP_CHOWN", "CAP_FOWNER", "CAP_DAC_OVERRIDE"])'
	kept_with '["CAP_CHOWN", "CAP_FOWNER", "CAP_DAC_OVERRIDE"]'
}

kept_with() {
	policy "{\"mounts\": {\"session\": [\"/work\"]}, \"disk\": {\"session\": {\"size\": \"32MiB\", \"keep\": true}}, \"capabilities\": {\"root\": $1}}"
}

teardown() {
	session_teardown
}

OWNERS='stat -c "%n %u:%g" . dir/other file'
CHANGE='echo more >>file; echo x >new; mkdir fresh; chown 5:6 fresh; echo y >fresh/f; chown 9 dir/other; rm -r dir; mkdir dir; chown 3:4 dir'

@test "the container sees mapped owners, the layer holds the original's; commit gives them" {
	sh_args "cd /work; $OWNERS; $CHANGE; stat -c '%n %u:%g' new fresh fresh/f dir"
	run_container
	works $'. 1000:1001\ndir/other 7:8\nfile 0:0\nnew 0:0\nfresh 5:6\nfresh/f 0:0\ndir 3:4'
	[ "$(cat "$WORK/file" "$WORK/dir/other")" = $'one\ntwo' ]
	call diff "$ID"
	works "/work over $WORK: 6 changes
  modified:   dir/ (mode 0777 -> 0755, owner 0:0 -> 3:4)
  deleted:    dir/other
  modified:   file (content)
  added:      fresh/
  added:      fresh/f (2 bytes)
  added:      new (2 bytes)"
	call commit "$ID"
	works
	[ "$(cd "$WORK" && stat -c '%n %u:%g' . new fresh fresh/f dir file)" = $'. 1000:1001\nnew 0:0\nfresh 5:6\nfresh/f 0:0\ndir 3:4\nfile 0:0' ]
	[ "$(cat "$WORK/file")" = $'one\nmore' ]
	call commit --undo "$ID"
	works
	untouched
	[ "$(cd "$WORK" && stat -c '%n %u:%g' . dir/other)" = $'. 1000:1001\ndir/other 7:8' ]
}

@test "rollback of a live and of a stopped session, whole and by path" {
	sh_args 'cd /work; echo one >a; chown 5:6 a; rm -r dir; exec sleep 1000'
	start_container
	ready() { call diff "$ID" && [[ $output = *': 2 changes'* ]]; }
	wait_for 5 ready
	call snapshot "$ID" calm
	works calm
	call exec "$ID" sh -c 'cd /work; echo two >a; mkdir dir; echo n >dir/n; rm file; mkdir -p more/deep; echo z >more/deep/z'
	works
	call rollback --path /work/a "$ID" calm
	works
	call exec "$ID" sh -c 'cd /work; cat a dir/n; stat -c %u:%g a'
	works $'one\nn\n5:6'
	call rollback "$ID" calm
	works
	call exec "$ID" sh -c 'cd /work; cat a file; ls; stat -c "%n %u:%g" a file'
	works $'one\none\na\nfile\na 5:6\nfile 0:0'
	call rollback "$ID"
	works
	call exec "$ID" sh -c "cd /work; cat dir/other; $OWNERS"
	works $'two\n. 1000:1001\ndir/other 7:8\nfile 0:0'
	call diff "$ID"
	works "/work over $WORK: no changes"
	call exec "$ID" sh -c 'cd /work; rm -r dir; echo x >>file'
	works
	stop_container
	call rollback --path /work/dir "$ID"
	works
	call diff "$ID"
	works "/work over $WORK: 1 change
  modified:   file (content)"
	call rollback "$ID" calm
	works
	call commit "$ID"
	works
	[ "$(stat -c %u:%g "$WORK/a")" = 5:6 ]
}

@test "ids that the mapping does not know stay nobody's; a folder of such an owner is refused" {
	edit '.linux.uidMappings[0].size = 1000 | .linux.gidMappings[0].size = 1000'
	run_container
	fails 1 'session over /work: the owner 1000:1001 of .* has no id'
	no_session
	clean
	chown 0:0 "$WORK"
	chown 2000:2000 "$WORK/file"
	chmod 666 "$WORK/file"
	sh_args 'cd /work; stat -c "%n %u:%g" file; echo x >>file || echo not this; echo y >>dir/other && echo but this'
	run_container
	[[ $output = 'file 65534:65534'$'\n''not this'$'\n''but this' ]]
	call diff "$ID"
	works "/work over $WORK: 1 change
  modified:   dir/other (content)"
}

@test "a mapping of its own" {
	edit '(.mounts[] | select(.destination == "/work")) += {uidMappings: [{containerID: 0, hostID: 100500, size: 1000}, {containerID: 1000, hostID: 100000, size: 1}],
		gidMappings: [{containerID: 0, hostID: 100000, size: 2000}]}'
	sh_args "cd /work; $OWNERS; echo x >mine"
	run_container
	works $'. 0:1001\ndir/other 507:8\nfile 500:0'
	call diff "$ID"
	works "/work over $WORK: 1 change
  added:      mine (2 bytes)"
	call commit "$ID"
	works
	[ "$(stat -c %u:%g "$WORK/mine")" = 1000:0 ]
}
