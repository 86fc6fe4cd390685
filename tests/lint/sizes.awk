# Files of at most 400 lines, commands of at most 120, functions of at most 80. A
# function is what stands between "{" and "}" in the first column. Prints one line per
# offence; exit status 1 when there was any.

BEGIN {
	FILE_MAX = 400
	COMMAND_MAX = 120
	FUNCTION_MAX = 80
}

function offence(file, line, text) {
	printf "%s:%d: %s\n", file, line, text
	bad = 1
}

function close_file() {
	if (name == "")
		return
	limit = name ~ /\/cmd_[a-z_]*\.c$/ ? COMMAND_MAX : FILE_MAX
	if (lines > limit)
		offence(name, lines, lines " lines, more than " limit)
}

FNR == 1 {
	close_file()
	name = FILENAME
	start = 0
}

{
	lines = FNR
}

/^\{/ {
	start = FNR
}

/^\}/ {
	if (start && FNR - start - 1 > FUNCTION_MAX)
		offence(FILENAME, start, "function of " FNR - start - 1 " lines, more than " FUNCTION_MAX)
	start = 0
}

END {
	close_file()
	exit bad
}
