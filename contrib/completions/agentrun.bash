# bash completion for agentrun(8). tests/lint/docs compares its options with --help.

# The options of a command; "" = the global ones.
_agentrun_options()
{
	case $1 in
	"")
		echo "--root --log --log-format --log-level --debug --systemd-cgroup --cgroup-manager \
			--rootless --policy --profile --criu --version -v --help -h"
		;;
	checkpoint)
		echo "--image-path --work-path --parent-path --leave-running --tcp-established \
			--tcp-skip-in-flight --tcp-close --link-remap --ext-unix-sk --shell-job --lazy-pages \
			--status-fd --page-server --file-locks --pre-dump --manage-cgroups-mode --empty-ns \
			--auto-dedup --help -h"
		;;
	commit)
		echo "--path -p --dry-run -n --force -f --undo --output -o --help -h"
		;;
	create)
		echo "--bundle -b --config -f --console-socket --pidfd-socket --pid-file --no-pivot \
			--no-new-keyring --no-subreaper --preserve-fds --help -h"
		;;
	delete)
		echo "--force -f --regex -r --help -h"
		;;
	diff)
		echo "--json --patch -p --list -l --help -h"
		;;
	events)
		echo "--stats --interval --help -h"
		;;
	exec)
		echo "--process -p --detach -d --tty -t --cwd --env -e --user -u --additional-gids -g --cap -c \
			--no-new-privs --apparmor --process-label --cgroup --ignore-paused --console-socket \
			--pidfd-socket --pid-file --preserve-fds --help -h"
		;;
	doctor)
		echo "--profile -p --json --help -h"
		;;
	explain)
		echo "--json --help -h"
		;;
	audit)
		echo "--dir --json --type --process --since --until --stream --raw --speed --max-wait --help -h"
		;;
	policy)
		echo "--bundle -b --profile -p --json --origins --help -h"
		;;
	features)
		echo "--help -h"
		;;
	kill)
		echo "--all -a --regex -r --help -h"
		;;
	list)
		echo "--format -f --quiet -q --help -h"
		;;
	pause)
		echo "--help -h"
		;;
	ps)
		echo "--format -f --help -h"
		;;
	restore)
		echo "--bundle -b --image-path --work-path --parent-path --detach -d --pid-file \
			--console-socket --no-pivot --no-subreaper --tcp-established --tcp-close --link-remap \
			--ext-unix-sk --shell-job --file-locks --manage-cgroups-mode --empty-ns --auto-dedup \
			--lazy-pages --lsm-profile --lsm-mount-context --help -h"
		;;
	resume)
		echo "--help -h"
		;;
	rollback)
		echo "--path -p --discard --help -h"
		;;
	run)
		echo "--bundle -b --config -f --detach -d --keep --console-socket --pidfd-socket --pid-file \
			--no-pivot --no-new-keyring --no-subreaper --preserve-fds --help -h"
		;;
	snapshot)
		echo "--comment -m --list -l --json --remove --help -h"
		;;
	spec)
		echo "--bundle -b --rootless --help -h"
		;;
	start)
		echo "--help -h"
		;;
	state)
		echo "--help -h"
		;;
	update)
		echo "--resources -r --blkio-weight --cpu-period --cpu-quota --cpu-burst --cpu-share \
			--cpu-rt-period --cpu-rt-runtime --cpuset-cpus --cpuset-mems --cpu-idle --memory \
			--memory-reservation --memory-swap --pids-limit --time-limit --egress-allow \
			--kernel-memory --kernel-memory-tcp \
			--l3-cache-schema --mem-bw-schema --help -h"
		;;
	esac
}

# Container ids below the root folder that the command line names.
_agentrun_ids()
{
	local root=() i

	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--root)
			root=(--root "${COMP_WORDS[i + 1]}")
			;;
		esac
	done
	agentrun "${root[@]}" list -q 2>/dev/null
}

# Candidates for the value of option $2 of command $1; fails when the option takes none.
_agentrun_value()
{
	case $2 in
	--bundle | -b | --root | --dir | --image-path | --work-path | --parent-path)
		compgen -d -- "$3"
		;;
	--config | -f | --log | --process | -p | --pid-file | --console-socket | --pidfd-socket | --resources | -r | --criu | --policy)
		case $1:$2 in
		list:-f | ps:-f)
			compgen -W "table json" -- "$3"
			;;
		delete:-f | delete:-r | kill:-r)
			return 1
			;;
		*)
			compgen -f -- "$3"
			;;
		esac
		;;
	--format)
		compgen -W "table json" -- "$3"
		;;
	--stream)
		compgen -W "stdin stdout stderr terminal" -- "$3"
		;;
	--type)
		compgen -W "create start operation exit delete process process-exit exec exec-exit output output-end window \
			name egress-denied call-denied limit deadline monitor-lost warning lost session open gap part-end part close" -- "$3"
		;;
	--since | --until | --speed | --max-wait)
		return 0
		;;
	--log-format)
		compgen -W "text json" -- "$3"
		;;
	--log-level)
		compgen -W "error warning info debug" -- "$3"
		;;
	--cgroup-manager)
		compgen -W "cgroupfs systemd disabled" -- "$3"
		;;
	--rootless)
		[ -z "$1" ] || return 1
		compgen -W "true false auto" -- "$3"
		;;
	--manage-cgroups-mode)
		compgen -W "soft full strict ignore" -- "$3"
		;;
	--apparmor | --cap | -c | --cgroup | --cwd | --env | -e | --user | -u | --additional-gids | -g | --process-label | \
		--preserve-fds | --interval | --status-fd | --page-server | --empty-ns | --lsm-* | --blkio-weight | \
		--cpu-* | --cpuset-* | --memory* | --kernel-memory* | --pids-limit | --time-limit | --egress-allow | --l3-cache-schema | --mem-bw-schema)
		# Nothing to offer, but the next word is a value.
		;;
	*)
		return 1
		;;
	esac
	# compgen fails when nothing matches, but a value is due all the same.
	return 0
}

_agentrun()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local command='' i positionals=0 value

	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-*)
			# The word after an option with a value is no command and no id.
			_agentrun_value "$command" "${COMP_WORDS[i]}" '' >/dev/null && ((i++))
			;;
		*)
			if [ -z "$command" ]; then
				command=${COMP_WORDS[i]}
			else
				((positionals++))
			fi
			;;
		esac
	done

	COMPREPLY=()
	if [[ $prev == -* ]] && value=$(_agentrun_value "$command" "$prev" "$cur"); then
		mapfile -t COMPREPLY <<<"$value"
		return
	fi
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_agentrun_options "$command")" -- "$cur")
		return
	fi
	case $command:$positionals in
	:*)
		mapfile -t COMPREPLY < <(compgen -W "audit checkpoint commit create delete diff doctor events exec explain features kill list pause policy ps restore resume rollback run snapshot spec start state update" -- "$cur")
		;;
	audit:0)
		mapfile -t COMPREPLY < <(compgen -W "list log follow show replay verify" -- "$cur")
		;;
	policy:0)
		mapfile -t COMPREPLY < <(compgen -W "check show schema suggest" -- "$cur")
		;;
	audit:1 | policy:1)
		mapfile -t COMPREPLY < <(compgen -W "$(_agentrun_ids)" -- "$cur")
		;;
	kill:1)
		mapfile -t COMPREPLY < <(compgen -W "HUP INT QUIT KILL USR1 USR2 TERM CONT STOP" -- "$cur")
		;;
	create:* | run:* | restore:* | list:* | spec:* | features:*)
		;;
	*:0)
		mapfile -t COMPREPLY < <(compgen -W "$(_agentrun_ids)" -- "$cur")
		;;
	esac
}

complete -F _agentrun agentrun
