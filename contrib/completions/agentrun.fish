# fish completion for agentrun(8). tests/lint/docs compares its options with --help.

function __agentrun_ids
	agentrun list -q 2>/dev/null
end

set -l commands audit checkpoint commit create delete diff doctor events exec explain features kill list pause policy ps restore resume rollback run snapshot spec start state update

complete -c agentrun -f

# global options
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -l root -x -a "(__fish_complete_directories)" -d 'folder of the container records (default: /run/agentrun)'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -l log -r -F -d 'log to [file:]PATH, syslog:ID or journald:ID'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -l log-format -x -a 'text json' -d 'text (default) or json'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -l log-level -x -a 'error warning info debug' -d 'error (default), warning, info or debug'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -l debug -d 'the same as --log-level debug'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -l systemd-cgroup -d 'the same as --cgroup-manager systemd'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -l cgroup-manager -x -a 'cgroupfs systemd disabled' -d 'cgroupfs (default), systemd, or disabled'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -l rootless -x -a 'true false auto' -d 'tolerate missing cgroup rights: true, false or auto'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -l policy -r -F -d 'policy file (default: /etc/agentrun/policy.json, else the built-in policy)'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -l profile -x -d 'profile of the policy for this container'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -l criu -r -F -d 'criu(8) for checkpoint and restore (default: criu in the usual folders)'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -s v -l version -d 'print the version and what is built in'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -s h -l help -d 'print this help'

# commands
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a audit -d 'show what containers did, and check that the record is whole'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a checkpoint -d 'save a running container to disk'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a commit -d 'let the changes of a session reach the original'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a create -d 'prepare a container; start runs its program'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a delete -d 'remove a container'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a diff -d 'show what a session changed'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a events -d 'print statistics and events of a container as JSON lines'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a exec -d 'run a further process in a container'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a doctor -d 'say what this host offers and lacks for the policy'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a explain -d 'say what is in force on a container, and why'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a policy -d 'check a bundle against the policy, show the policy, or suggest lines for it'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a features -d 'print what this build supports as JSON'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a kill -d 'send a signal to a container'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a list -d 'list the containers of this root folder'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a pause -d 'freeze all processes of a container'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a ps -d 'list the processes of a container'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a restore -d 'continue a container saved by checkpoint'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a resume -d 'let a paused container go on'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a rollback -d 'take a session back to a snapshot or its start'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a run -d 'create and start a container'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a snapshot -d 'name the present state of a session'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a spec -d 'write a default config.json'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a start -d 'run the program of a created container'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a state -d 'print the state of a container as JSON'
complete -c agentrun -n "not __fish_seen_subcommand_from $commands" -a update -d 'change the resource limits of a container'

# checkpoint
complete -c agentrun -n '__fish_seen_subcommand_from checkpoint' -a '(__agentrun_ids)' -d container
complete -c agentrun -n '__fish_seen_subcommand_from checkpoint' -l image-path -x -a "(__fish_complete_directories)" -d 'folder for the images (default: checkpoint)'
complete -c agentrun -n '__fish_seen_subcommand_from checkpoint' -l work-path -x -a "(__fish_complete_directories)" -d 'folder for logs and scratch files (default: that of the images)'
complete -c agentrun -n '__fish_seen_subcommand_from checkpoint' -l parent-path -x -a "(__fish_complete_directories)" -d 'folder of an earlier pre-dump, relative to the images'
complete -c agentrun -n '__fish_seen_subcommand_from checkpoint' -l leave-running -d 'let the container go on afterwards'
complete -c agentrun -n '__fish_seen_subcommand_from checkpoint' -l tcp-established -d 'allow open TCP connections'
complete -c agentrun -n '__fish_seen_subcommand_from checkpoint' -l tcp-skip-in-flight -d 'skip TCP connections that are being set up'
complete -c agentrun -n '__fish_seen_subcommand_from checkpoint' -l tcp-close -d 'close TCP connections'
complete -c agentrun -n '__fish_seen_subcommand_from checkpoint' -l link-remap -d 'allow links to deleted files'
complete -c agentrun -n '__fish_seen_subcommand_from checkpoint' -l ext-unix-sk -d 'allow sockets of outside processes'
complete -c agentrun -n '__fish_seen_subcommand_from checkpoint' -l shell-job -d 'allow a terminal of an outside session'
complete -c agentrun -n '__fish_seen_subcommand_from checkpoint' -l lazy-pages -d 'serve memory pages on demand'
complete -c agentrun -n '__fish_seen_subcommand_from checkpoint' -l status-fd -x -d 'write a byte here when lazy pages can be served'
complete -c agentrun -n '__fish_seen_subcommand_from checkpoint' -l page-server -x -d 'send pages to this server'
complete -c agentrun -n '__fish_seen_subcommand_from checkpoint' -l file-locks -d 'include file locks'
complete -c agentrun -n '__fish_seen_subcommand_from checkpoint' -l pre-dump -d 'dump memory only and let the container go on'
complete -c agentrun -n '__fish_seen_subcommand_from checkpoint' -l manage-cgroups-mode -x -a 'soft full strict ignore' -d 'soft (default), full, strict or ignore'
complete -c agentrun -n '__fish_seen_subcommand_from checkpoint' -l empty-ns -x -d 'leave a namespace\'s content out; may be repeated'
complete -c agentrun -n '__fish_seen_subcommand_from checkpoint' -l auto-dedup -d 'drop pages that a later dump replaces'
complete -c agentrun -n '__fish_seen_subcommand_from checkpoint' -s h -l help -d 'print this help'

# commit
complete -c agentrun -n '__fish_seen_subcommand_from commit' -a '(__agentrun_ids)' -d container
complete -c agentrun -n '__fish_seen_subcommand_from commit' -s p -l path -r -d 'only what is at PATH in the container, and below'
complete -c agentrun -n '__fish_seen_subcommand_from commit' -s n -l dry-run -d 'say what would be done, and what speaks against it'
complete -c agentrun -n '__fish_seen_subcommand_from commit' -s f -l force -d 'also over what others have changed, and what is dangerous'
complete -c agentrun -n '__fish_seen_subcommand_from commit' -l undo -d 'take the last commit back'
complete -c agentrun -n '__fish_seen_subcommand_from commit' -s o -l output -r -F -d 'write a layer of an OCI image instead; FILE must be new'
complete -c agentrun -n '__fish_seen_subcommand_from commit' -s h -l help -d 'print this help'

# create
complete -c agentrun -n '__fish_seen_subcommand_from create' -s b -l bundle -x -a "(__fish_complete_directories)" -d 'folder with config.json and the root filesystem (default: .)'
complete -c agentrun -n '__fish_seen_subcommand_from create' -s f -l config -r -F -d 'configuration to use instead of the bundle\'s config.json'
complete -c agentrun -n '__fish_seen_subcommand_from create' -l console-socket -r -F -d 'send the terminal\'s master to this socket'
complete -c agentrun -n '__fish_seen_subcommand_from create' -l pidfd-socket -r -F -d 'send a pidfd of the process to this socket'
complete -c agentrun -n '__fish_seen_subcommand_from create' -l pid-file -r -F -d 'write the process id to this file'
complete -c agentrun -n '__fish_seen_subcommand_from create' -l no-pivot -d 'move the root instead of pivot_root; for roots on a ramdisk'
complete -c agentrun -n '__fish_seen_subcommand_from create' -l no-new-keyring -d 'keep the caller\'s session keyring'
complete -c agentrun -n '__fish_seen_subcommand_from create' -l no-subreaper -d 'accepted; create never is a subreaper'
complete -c agentrun -n '__fish_seen_subcommand_from create' -l preserve-fds -x -d 'pass descriptors 3 to 3+N-1 on to the container'
complete -c agentrun -n '__fish_seen_subcommand_from create' -s h -l help -d 'print this help'

# delete
complete -c agentrun -n '__fish_seen_subcommand_from delete' -a '(__agentrun_ids)' -d container
complete -c agentrun -n '__fish_seen_subcommand_from delete' -s f -l force -d 'kill a running container first; an unknown id is no error'
complete -c agentrun -n '__fish_seen_subcommand_from delete' -s r -l regex -d 'ID is a regular expression: delete every container whose id matches'
complete -c agentrun -n '__fish_seen_subcommand_from delete' -s h -l help -d 'print this help'

# diff
complete -c agentrun -n '__fish_seen_subcommand_from diff' -a '(__agentrun_ids)' -d container
complete -c agentrun -n '__fish_seen_subcommand_from diff' -l json -d 'print JSON'
complete -c agentrun -n '__fish_seen_subcommand_from diff' -s p -l patch -d 'print a unified diff of text files'
complete -c agentrun -n '__fish_seen_subcommand_from diff' -s l -l list -d 'list all sessions of this host; takes no ID'
complete -c agentrun -n '__fish_seen_subcommand_from diff' -s h -l help -d 'print this help'

# events
complete -c agentrun -n '__fish_seen_subcommand_from events' -a '(__agentrun_ids)' -d container
complete -c agentrun -n '__fish_seen_subcommand_from events' -l stats -d 'print the statistics once and end'
complete -c agentrun -n '__fish_seen_subcommand_from events' -l interval -x -d 'time between two statistics records (default: 5s)'
complete -c agentrun -n '__fish_seen_subcommand_from events' -s h -l help -d 'print this help'

# exec
complete -c agentrun -n '__fish_seen_subcommand_from exec' -a '(__agentrun_ids)' -d container
complete -c agentrun -n '__fish_seen_subcommand_from exec' -s p -l process -r -F -d 'JSON document that describes the process'
complete -c agentrun -n '__fish_seen_subcommand_from exec' -s d -l detach -d 'return as soon as the program runs'
complete -c agentrun -n '__fish_seen_subcommand_from exec' -s t -l tty -d 'give the process a terminal'
complete -c agentrun -n '__fish_seen_subcommand_from exec' -l cwd -x -a "(__fish_complete_directories)" -d 'working directory in the container'
complete -c agentrun -n '__fish_seen_subcommand_from exec' -s e -l env -x -d 'set a variable; may be repeated'
complete -c agentrun -n '__fish_seen_subcommand_from exec' -s u -l user -x -d 'user and group to run as'
complete -c agentrun -n '__fish_seen_subcommand_from exec' -s g -l additional-gids -x -d 'supplementary group; may be repeated'
complete -c agentrun -n '__fish_seen_subcommand_from exec' -s c -l cap -x -d 'add a capability; may be repeated'
complete -c agentrun -n '__fish_seen_subcommand_from exec' -l no-new-privs -d 'deny the process any gain of privilege'
complete -c agentrun -n '__fish_seen_subcommand_from exec' -l apparmor -x -d 'AppArmor profile of the process'
complete -c agentrun -n '__fish_seen_subcommand_from exec' -l process-label -x -d 'SELinux label of the process'
complete -c agentrun -n '__fish_seen_subcommand_from exec' -l cgroup -x -d 'sub-cgroup to run in; may be repeated'
complete -c agentrun -n '__fish_seen_subcommand_from exec' -l ignore-paused -d 'allow it in a paused container'
complete -c agentrun -n '__fish_seen_subcommand_from exec' -l console-socket -r -F -d 'send the terminal\'s master to this socket'
complete -c agentrun -n '__fish_seen_subcommand_from exec' -l pidfd-socket -r -F -d 'send a pidfd of the process to this socket'
complete -c agentrun -n '__fish_seen_subcommand_from exec' -l pid-file -r -F -d 'write the process id to this file'
complete -c agentrun -n '__fish_seen_subcommand_from exec' -l preserve-fds -x -d 'pass descriptors 3 to 3+N-1 on to the process'
complete -c agentrun -n '__fish_seen_subcommand_from exec' -s h -l help -d 'print this help'

# features
complete -c agentrun -n '__fish_seen_subcommand_from features' -s h -l help -d 'print this help'

# kill
complete -c agentrun -n '__fish_seen_subcommand_from kill' -a '(__agentrun_ids)' -d container
complete -c agentrun -n '__fish_seen_subcommand_from kill' -s a -l all -d 'signal every process of the container'
complete -c agentrun -n '__fish_seen_subcommand_from kill' -s r -l regex -d 'ID is a regular expression: signal every container whose id matches'
complete -c agentrun -n '__fish_seen_subcommand_from kill' -s h -l help -d 'print this help'

# list
complete -c agentrun -n '__fish_seen_subcommand_from list' -s f -l format -x -a 'table json' -d 'table (default) or json'
complete -c agentrun -n '__fish_seen_subcommand_from list' -s q -l quiet -d 'print ids only'
complete -c agentrun -n '__fish_seen_subcommand_from list' -s h -l help -d 'print this help'

# pause
complete -c agentrun -n '__fish_seen_subcommand_from pause' -a '(__agentrun_ids)' -d container
complete -c agentrun -n '__fish_seen_subcommand_from pause' -s h -l help -d 'print this help'

# ps
complete -c agentrun -n '__fish_seen_subcommand_from ps' -a '(__agentrun_ids)' -d container
complete -c agentrun -n '__fish_seen_subcommand_from ps' -s f -l format -x -a 'table json' -d 'table (default) or json: an array of host process ids'
complete -c agentrun -n '__fish_seen_subcommand_from ps' -s h -l help -d 'print this help'

# restore
complete -c agentrun -n '__fish_seen_subcommand_from restore' -s b -l bundle -x -a "(__fish_complete_directories)" -d 'folder with config.json and the root filesystem (default: .)'
complete -c agentrun -n '__fish_seen_subcommand_from restore' -l image-path -x -a "(__fish_complete_directories)" -d 'folder of the images (default: checkpoint)'
complete -c agentrun -n '__fish_seen_subcommand_from restore' -l work-path -x -a "(__fish_complete_directories)" -d 'folder for logs and scratch files (default: that of the images)'
complete -c agentrun -n '__fish_seen_subcommand_from restore' -l parent-path -x -a "(__fish_complete_directories)" -d 'without effect: the images name their parent'
complete -c agentrun -n '__fish_seen_subcommand_from restore' -s d -l detach -d 'return as soon as the container runs'
complete -c agentrun -n '__fish_seen_subcommand_from restore' -l pid-file -r -F -d 'write the process id to this file'
complete -c agentrun -n '__fish_seen_subcommand_from restore' -l console-socket -r -F -d 'send the terminal\'s master to this socket'
complete -c agentrun -n '__fish_seen_subcommand_from restore' -l no-pivot -d 'without effect: criu changes the root'
complete -c agentrun -n '__fish_seen_subcommand_from restore' -l no-subreaper -d 'do not adopt the container\'s orphans'
complete -c agentrun -n '__fish_seen_subcommand_from restore' -l tcp-established -d 'restore open TCP connections'
complete -c agentrun -n '__fish_seen_subcommand_from restore' -l tcp-close -d 'restore TCP connections as closed'
complete -c agentrun -n '__fish_seen_subcommand_from restore' -l link-remap -d 'allow links to deleted files'
complete -c agentrun -n '__fish_seen_subcommand_from restore' -l ext-unix-sk -d 'allow sockets of outside processes'
complete -c agentrun -n '__fish_seen_subcommand_from restore' -l shell-job -d 'allow a terminal of an outside session'
complete -c agentrun -n '__fish_seen_subcommand_from restore' -l file-locks -d 'restore file locks'
complete -c agentrun -n '__fish_seen_subcommand_from restore' -l manage-cgroups-mode -x -a 'soft full strict ignore' -d 'soft (default), full, strict or ignore'
complete -c agentrun -n '__fish_seen_subcommand_from restore' -l empty-ns -x -d 'leave a namespace\'s content out; may be repeated'
complete -c agentrun -n '__fish_seen_subcommand_from restore' -l auto-dedup -d 'drop pages that were restored'
complete -c agentrun -n '__fish_seen_subcommand_from restore' -l lazy-pages -d 'fetch memory pages on demand'
complete -c agentrun -n '__fish_seen_subcommand_from restore' -l lsm-profile -x -d 'security label to restore with'
complete -c agentrun -n '__fish_seen_subcommand_from restore' -l lsm-mount-context -x -d 'SELinux mount context to restore with'
complete -c agentrun -n '__fish_seen_subcommand_from restore' -s h -l help -d 'print this help'

# resume
complete -c agentrun -n '__fish_seen_subcommand_from resume' -a '(__agentrun_ids)' -d container
complete -c agentrun -n '__fish_seen_subcommand_from resume' -s h -l help -d 'print this help'

# rollback
complete -c agentrun -n '__fish_seen_subcommand_from rollback' -a '(__agentrun_ids)' -d container
complete -c agentrun -n '__fish_seen_subcommand_from rollback' -s p -l path -r -d 'only what is at PATH in the container, and below'
complete -c agentrun -n '__fish_seen_subcommand_from rollback' -l discard -d 'remove a kept session whose container is gone'
complete -c agentrun -n '__fish_seen_subcommand_from rollback' -s h -l help -d 'print this help'

# run
complete -c agentrun -n '__fish_seen_subcommand_from run' -s b -l bundle -x -a "(__fish_complete_directories)" -d 'folder with config.json and the root filesystem (default: .)'
complete -c agentrun -n '__fish_seen_subcommand_from run' -s f -l config -r -F -d 'configuration to use instead of the bundle\'s config.json'
complete -c agentrun -n '__fish_seen_subcommand_from run' -s d -l detach -d 'return as soon as the program runs'
complete -c agentrun -n '__fish_seen_subcommand_from run' -l keep -d 'keep the stopped container until delete'
complete -c agentrun -n '__fish_seen_subcommand_from run' -l console-socket -r -F -d 'send the terminal\'s master to this socket'
complete -c agentrun -n '__fish_seen_subcommand_from run' -l pidfd-socket -r -F -d 'send a pidfd of the process to this socket'
complete -c agentrun -n '__fish_seen_subcommand_from run' -l pid-file -r -F -d 'write the process id to this file'
complete -c agentrun -n '__fish_seen_subcommand_from run' -l no-pivot -d 'move the root instead of pivot_root; for roots on a ramdisk'
complete -c agentrun -n '__fish_seen_subcommand_from run' -l no-new-keyring -d 'keep the caller\'s session keyring'
complete -c agentrun -n '__fish_seen_subcommand_from run' -l no-subreaper -d 'do not adopt the container\'s orphans'
complete -c agentrun -n '__fish_seen_subcommand_from run' -l preserve-fds -x -d 'pass descriptors 3 to 3+N-1 on to the container'
complete -c agentrun -n '__fish_seen_subcommand_from run' -s h -l help -d 'print this help'

# snapshot
complete -c agentrun -n '__fish_seen_subcommand_from snapshot' -a '(__agentrun_ids)' -d container
complete -c agentrun -n '__fish_seen_subcommand_from snapshot' -s m -l comment -r -d 'say what it is'
complete -c agentrun -n '__fish_seen_subcommand_from snapshot' -s l -l list -d 'list the snapshots'
complete -c agentrun -n '__fish_seen_subcommand_from snapshot' -l json -d 'list them as JSON'
complete -c agentrun -n '__fish_seen_subcommand_from snapshot' -l remove -d 'remove snapshot NAME'
complete -c agentrun -n '__fish_seen_subcommand_from snapshot' -s h -l help -d 'print this help'

# spec
complete -c agentrun -n '__fish_seen_subcommand_from spec' -s b -l bundle -x -a "(__fish_complete_directories)" -d 'folder to write config.json into (default: .)'
complete -c agentrun -n '__fish_seen_subcommand_from spec' -l rootless -d 'for an unprivileged user: own user namespace, no cgroup limits'
complete -c agentrun -n '__fish_seen_subcommand_from spec' -s h -l help -d 'print this help'

# start
complete -c agentrun -n '__fish_seen_subcommand_from start' -a '(__agentrun_ids)' -d container
complete -c agentrun -n '__fish_seen_subcommand_from start' -s h -l help -d 'print this help'

# state
complete -c agentrun -n '__fish_seen_subcommand_from state' -a '(__agentrun_ids)' -d container
complete -c agentrun -n '__fish_seen_subcommand_from state' -s h -l help -d 'print this help'

# update
complete -c agentrun -n '__fish_seen_subcommand_from update' -a '(__agentrun_ids)' -d container
complete -c agentrun -n '__fish_seen_subcommand_from update' -s r -l resources -r -F -d 'read a linux.resources document from FILE, or from stdin with -'
complete -c agentrun -n '__fish_seen_subcommand_from update' -l blkio-weight -x -d 'relative block I/O weight, 10 to 1000'
complete -c agentrun -n '__fish_seen_subcommand_from update' -l cpu-period -x -d 'CPU period'
complete -c agentrun -n '__fish_seen_subcommand_from update' -l cpu-quota -x -d 'CPU time per period; -1 = unlimited'
complete -c agentrun -n '__fish_seen_subcommand_from update' -l cpu-burst -x -d 'unused CPU time that may be saved up'
complete -c agentrun -n '__fish_seen_subcommand_from update' -l cpu-share -x -d 'relative CPU weight; 1024 is usual'
complete -c agentrun -n '__fish_seen_subcommand_from update' -l cpu-rt-period -x -d 'real-time CPU period'
complete -c agentrun -n '__fish_seen_subcommand_from update' -l cpu-rt-runtime -x -d 'real-time CPU time per period'
complete -c agentrun -n '__fish_seen_subcommand_from update' -l cpuset-cpus -x -d 'CPUs to run on, as 0-3,7'
complete -c agentrun -n '__fish_seen_subcommand_from update' -l cpuset-mems -x -d 'memory nodes to use'
complete -c agentrun -n '__fish_seen_subcommand_from update' -l cpu-idle -x -d '1 = run only when the CPUs are idle'
complete -c agentrun -n '__fish_seen_subcommand_from update' -l memory -x -d 'memory limit, as 512m; -1 = unlimited'
complete -c agentrun -n '__fish_seen_subcommand_from update' -l memory-reservation -x -d 'memory soft limit'
complete -c agentrun -n '__fish_seen_subcommand_from update' -l memory-swap -x -d 'memory and swap together; -1 = unlimited'
complete -c agentrun -n '__fish_seen_subcommand_from update' -l pids-limit -x -d 'number of processes; -1 = unlimited'
complete -c agentrun -n '__fish_seen_subcommand_from update' -l time-limit -x -d 'end the container so long from now, as 10m; never later than before'
complete -c agentrun -n '__fish_seen_subcommand_from update' -l egress-allow -x -d 'leave the container only these of its egress rules, as pypi.org:443,10.2.0.0/16; empty = none'
complete -c agentrun -n '__fish_seen_subcommand_from update' -l kernel-memory -x -d 'accepted; the kernel has no such limit any more'
complete -c agentrun -n '__fish_seen_subcommand_from update' -l kernel-memory-tcp -x -d 'accepted; the kernel has no such limit any more'
complete -c agentrun -n '__fish_seen_subcommand_from update' -l l3-cache-schema -x -d 'Intel RDT L3 cache schema'
complete -c agentrun -n '__fish_seen_subcommand_from update' -l mem-bw-schema -x -d 'Intel RDT memory bandwidth schema'
complete -c agentrun -n '__fish_seen_subcommand_from update' -s h -l help -d 'print this help'

# doctor
complete -c agentrun -n '__fish_seen_subcommand_from doctor' -s p -l profile -x -d 'profile to ask for instead of the policy\'s choice'
complete -c agentrun -n '__fish_seen_subcommand_from doctor' -l json -d 'print JSON'
complete -c agentrun -n '__fish_seen_subcommand_from doctor' -s h -l help -d 'print this help'

# explain
complete -c agentrun -n '__fish_seen_subcommand_from explain' -a '(__agentrun_ids)' -d container
complete -c agentrun -n '__fish_seen_subcommand_from explain' -l json -d 'print JSON'
complete -c agentrun -n '__fish_seen_subcommand_from explain' -s h -l help -d 'print this help'

# audit
complete -c agentrun -n '__fish_seen_subcommand_from audit' -a 'list log follow show replay verify'
complete -c agentrun -n '__fish_seen_subcommand_from audit' -l dir -r -d 'folder with logs (default: /var/log/agentrun)'
complete -c agentrun -n '__fish_seen_subcommand_from audit' -l json -d 'print JSON; records as they stand in the log'
complete -c agentrun -n '__fish_seen_subcommand_from audit' -l type -x -a 'create start operation exit delete process process-exit exec exec-exit output output-end window name egress-denied call-denied limit deadline monitor-lost warning lost session open gap part-end part close' -d 'log, follow: records of these types only (repeatable)'
complete -c agentrun -n '__fish_seen_subcommand_from audit' -l process -x -d 'log, follow: records of this process only'
complete -c agentrun -n '__fish_seen_subcommand_from audit' -l since -x -d 'log, follow: not before (2026-11-30T20:56 in UTC, or 10m)'
complete -c agentrun -n '__fish_seen_subcommand_from audit' -l until -x -d 'log, follow: not after'
complete -c agentrun -n '__fish_seen_subcommand_from audit' -l stream -x -a 'stdin stdout stderr terminal' -d 'show: only one stream'
complete -c agentrun -n '__fish_seen_subcommand_from audit' -l raw -d 'show: the bytes of the output and nothing else, unchanged'
complete -c agentrun -n '__fish_seen_subcommand_from audit' -l speed -x -d 'replay: so many times as fast (default: 1)'
complete -c agentrun -n '__fish_seen_subcommand_from audit' -l max-wait -x -d 'replay: longest pause'
complete -c agentrun -n '__fish_seen_subcommand_from audit' -s h -l help -d 'print this help'

# policy
complete -c agentrun -n '__fish_seen_subcommand_from policy' -a 'check show schema suggest'
complete -c agentrun -n '__fish_seen_subcommand_from policy' -a '(__agentrun_ids)' -d container
complete -c agentrun -n '__fish_seen_subcommand_from policy' -s b -l bundle -r -d 'check: folder with config.json (default: .)'
complete -c agentrun -n '__fish_seen_subcommand_from policy' -s p -l profile -x -d 'profile to use instead of the policy choice'
complete -c agentrun -n '__fish_seen_subcommand_from policy' -l json -d 'check, suggest: print JSON'
complete -c agentrun -n '__fish_seen_subcommand_from policy' -l origins -d 'show: print where each value was set'
complete -c agentrun -n '__fish_seen_subcommand_from policy' -s h -l help -d 'print this help'
