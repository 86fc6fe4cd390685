# Folders are layers: a file includes only what the table allows to its folder, and
# names the folder in the include. Input: C sources and headers, named relative to the
# source root. Prints one line per offence; exit status 1 when there was any.

function allow(layer, list,    names, n, i) {
	known[layer] = 1
	n = split(list, names, " ")
	for (i = 1; i <= n; i++)
		allowed[layer, names[i]] = 1
	allowed[layer, layer] = 1
}

BEGIN {
	subsystems = "cgroup filter egress audit snap hooks"
	lower = "state os spec util"
	allow("util", "")
	allow("spec", "util")
	allow("os", "util")
	allow("state", "os util")
	allow("policy", "spec util")
	# plan takes types from os, filter and egress; that it makes no system call is banned.awk's.
	allow("plan", "policy spec util os filter egress")
	allow("cgroup", lower)
	allow("filter", lower)
	allow("egress", lower)
	allow("audit", lower)
	allow("snap", lower)
	allow("hooks", lower)
	allow("monitor", subsystems " state os util")
	# agentrun-systemd, a program of its own.
	allow("systemd", "cgroup util")
	allow("container", "monitor " subsystems " plan policy " lower)
	allow("commands", "container plan policy audit snap state spec util")
	allow("cli", "commands util")
	allow("main", "cli")
}

function offence(text) {
	printf "%s:%d: %s\n", FILENAME, FNR, text
	bad = 1
}

FNR == 1 {
	parts = split(FILENAME, path, "/")
	layer = path[1] == "spec" ? "spec" : path[2]
	if (FILENAME == "runtime/main.c")
		layer = "main"
	if (!(layer in known))
		offence("folder " layer " is no layer: add it to the table in tests/lint/layers.awk")
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
	split($0, quoted, "\"")
	target = quoted[2]
	if (target == "config.h") {
		if (layer != "main" && layer != "util")
			offence("config.h is for main and util: pass the fact down instead")
		next
	}
	if (target !~ /^[a-z_]+\/[a-z0-9_]+(\.skel)?\.h$/) {
		offence("include \"" target "\" does not name its folder")
		next
	}
	split(target, to, "/")
	if (!((layer, to[1]) in allowed))
		offence(layer " must not include " to[1] " (\"" target "\")")
}

END {
	exit bad
}
