#!/usr/bin/env bats
# What every call answers in every state of a container: one test per call, one line per state.

load helpers.bash

setup_file() { suite_setup_file; }
teardown_file() { suite_teardown_file; }
setup() { suite_setup; }
teardown() { suite_teardown; }

# in_states CALL...: reads lines "STATE | CODE | MESSAGE" (a regular expression, for failures)
# and makes the call on a fresh container in each of the states. "ID" stands for its name.
in_states() {
	local state code message number=0 argument command
	while IFS='|' read -r state code message; do
		state=${state//[[:space:]]/}
		code=${code//[[:space:]]/}
		message=${message# }
		[ -n "$state" ] || continue
		number=$((number + 1))
		ID=s$BATS_TEST_NUMBER-$number
		make_state "$state"
		command=()
		for argument in "$@"; do
			command+=("${argument/#ID/$ID}")
		done
		echo "--- ${command[*]}, $state"
		call "${command[@]}"
		if [ "$code" -eq 0 ]; then
			works
		else
			fails "$code" "$message"
		fi
		after_call "$state"
		call delete --force "$ID"
		works
	done
}

# Replaced by tests that look at the state afterwards.
after_call() { :; }

@test "create" {
	in_states create --bundle "$BUNDLE" ID <<-T
		none    | 0 |
		created | 1 | container with given ID already exists
		running | 1 | container with given ID already exists
		paused  | 1 | container with given ID already exists
		stopped | 1 | container with given ID already exists
	T
}

@test "run" {
	in_states run --bundle "$BUNDLE" --detach ID <<-T
		none    | 0 |
		created | 1 | container with given ID already exists
		running | 1 | container with given ID already exists
		stopped | 1 | container with given ID already exists
	T
}

@test "start" {
	after_call() { [ "$1" != created ] || has_status running; }
	in_states start ID <<-T
		none    | 1 | container does not exist
		created | 0 |
		running | 1 | cannot start an already running container
		paused  | 1 | cannot start a container in the paused state
		stopped | 1 | cannot start a container that has stopped
	T
}

@test "kill" {
	in_states kill ID TERM <<-T
		none    | 1 | container does not exist
		created | 0 |
		running | 0 |
		paused  | 0 |
		stopped | 1 | container not running
	T
}

@test "kill 9" {
	after_call() { [ "$1" = none ] || [ "$1" = stopped ] || wait_for 10 has_status stopped; }
	in_states kill ID 9 <<-T
		none    | 1 | container does not exist
		created | 0 |
		running | 0 |
		paused  | 0 |
		stopped | 1 | container not running
	T
}

@test "kill --all" {
	in_states kill --all ID 9 <<-T
		none    | 1 | container does not exist
		created | 0 |
		running | 0 |
		paused  | 0 |
		stopped | 0 |
	T
}

@test "exec" {
	in_states exec ID true <<-T
		none    | 255 | container does not exist
		created | 0   |
		running | 0   |
		paused  | 255 | cannot exec in a paused container
		stopped | 255 | cannot exec in a stopped container
	T
}

@test "pause" {
	after_call() { [ "$1" = none ] || [ "$1" = stopped ] || has_status paused; }
	in_states pause ID <<-T
		none    | 1 | container does not exist
		created | 0 |
		running | 0 |
		paused  | 1 | container not running
		stopped | 1 | container not running
	T
}

@test "resume" {
	after_call() { [ "$1" != paused ] || has_status running; }
	in_states resume ID <<-T
		none    | 1 | container does not exist
		created | 1 | container not paused
		running | 1 | container not paused
		paused  | 0 |
		stopped | 1 | container not paused
	T
}

@test "update" {
	in_states update --pids-limit 30 ID <<-T
		none    | 1 | container does not exist
		created | 0 |
		running | 0 |
		paused  | 0 |
		stopped | 1 | container not running
	T
}

@test "ps" {
	after_call() {
		case $1 in
		created | running | paused) jq -e 'length == 1' "$T/stdout" ;;
		stopped) jq -e '. == null or . == []' "$T/stdout" ;;
		esac
	}
	in_states ps --format json ID <<-T
		none    | 1 | container does not exist
		created | 0 |
		running | 0 |
		paused  | 0 |
		stopped | 0 |
	T
}

@test "events --stats" {
	after_call() { [ "$1" = none ] || [ "$1" = stopped ] || jq -e '.type == "stats"' "$T/stdout"; }
	in_states events --stats ID <<-T
		none    | 1 | container does not exist
		running | 0 |
		paused  | 0 |
		stopped | 1 | is not running
	T
}

@test "state" {
	after_call() {
		[ "$1" = none ] && return 0
		[ "$(jq -r .status "$T/stdout")" = "$1" ]
		if [ "$1" = stopped ]; then
			jq -e '.pid == 0' "$T/stdout"
		else
			jq -e '.pid > 0' "$T/stdout"
		fi
	}
	in_states state ID <<-T
		none    | 1 | container does not exist
		created | 0 |
		running | 0 |
		paused  | 0 |
		stopped | 0 |
	T
}

@test "delete" {
	in_states delete ID <<-T
		none    | 1 | container does not exist
		created | 0 |
		running | 1 | cannot delete container .* that is not stopped: running
		paused  | 1 | cannot delete container .* that is not stopped: paused
		stopped | 0 |
	T
	clean
}

@test "delete --force" {
	after_call() { clean; }
	in_states delete --force ID <<-T
		none    | 0 |
		created | 0 |
		running | 0 |
		paused  | 0 |
		stopped | 0 |
	T
}
