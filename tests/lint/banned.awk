# Words and habits that are not used here, each with its reason. Comments and string
# contents are taken out first. Prints one line per offence; exit status 1 when there
# was any.

function ban(word, reason) {
	banned[word] = reason
}

BEGIN {
	numbers = "accepts blanks, signs and rubbish: use util/parse.h"
	bounds = "does not know the size of its target"
	ban("atoi", numbers)
	ban("atol", numbers)
	ban("strtol", numbers)
	ban("strtoul", numbers)
	ban("strtoll", numbers)
	ban("strtoull", numbers)
	ban("sprintf", bounds ": use snprintf or struct buf")
	ban("vsprintf", bounds ": use vsnprintf or struct buf")
	ban("strcpy", bounds)
	ban("strcat", bounds)
	ban("gets", bounds)
	ban("alloca", "takes an unbounded size from a bounded stack")
	ban("strtok", "keeps hidden state")
	ban("dup", "gives a descriptor without O_CLOEXEC: use fcntl(F_DUPFD_CLOEXEC)")
	ban("basename", "is two functions with different contracts")
	ban("system", "runs a shell: use os/spawn.h")
	ban("popen", "runs a shell: use os/spawn.h")
	ban("tmpnam", "races")
	ban("mktemp", "races")
	ban("readdir_r", "is deprecated")
	ban("exit", "only main ends the process: return an error")
	ban("perror", "only cli reports errors")
	ban("err", "only cli reports errors")
	ban("assert_perror", "asserts are for mistakes of ours")
	# Where a reason does not hold.
	split("strtol strtoul strtoll strtoull", parsers, " ")
	for (i in parsers)
		excused["runtime/util/parse.c", parsers[i]] = 1
	split("printf puts putchar fputs stdout", printers, " ")
	split("open openat creat", openers, " ")
	# Folders that decide and do not act: no system call, so that their results can be tested and trusted.
	split("open openat stat lstat fstat fstatat access faccessat read write pread pwrite readlink mkdir mkdirat " \
	      "unlink unlinkat mount umount socket connect ioctl prctl syscall fork execve kill getenv " \
	      "file_read_all file_replace", acting, " ")
}

function offence(text) {
	printf "%s:%d: %s\n", FILENAME, FNR, text
	bad = 1
}

# The line without comments and with empty strings; in_comment lives on over lines.
function code_of(line,    out, i, c, two) {
	out = ""
	for (i = 1; i <= length(line); i++) {
		c = substr(line, i, 1)
		two = substr(line, i, 2)
		if (in_comment) {
			if (two == "*/") {
				in_comment = 0
				i++
			}
		} else if (two == "/*") {
			in_comment = 1
			i++
		} else if (two == "//") {
			offence("// comment: write /* */")
			break
		} else if (c == "\"" || c == "'") {
			quote = c
			for (i++; i <= length(line) && substr(line, i, 1) != quote; i++)
				if (substr(line, i, 1) == "\\")
					i++
			out = out quote quote
		} else {
			out = out c
		}
	}
	return out
}

# index() first: a pattern made at run time is compiled anew for nearly every line.
function calls(code, word) {
	return index(code, word) && code ~ ("(^|[^A-Za-z0-9_.>])" word "[ \t]*\\(")
}

# open(2) and its kin over the whole statement, since flags may stand on the next line.
function check_open(statement,    i) {
	for (i in openers)
		if (calls(statement, openers[i]) && statement ~ /O_(RDONLY|WRONLY|RDWR|PATH|CREAT|DIRECTORY)/ &&
		    statement !~ /O_CLOEXEC/ && !without_cloexec)
			offence(openers[i] "() without O_CLOEXEC")
}

FNR == 1 {
	in_comment = 0
	statement = ""
	without_cloexec = 0
	if ($0 !~ /^\/\*/)
		offence("no opening comment that says what the file owns")
}

/TODO|FIXME|XXX/ {
	offence("unfinished work is not kept in comments")
}

/[ \t]+$/ {
	offence("blanks at the end of the line")
}

/^ +[^ *\\]/ {
	offence("indented with blanks: use tabs")
}

/no O_CLOEXEC/ {
	without_cloexec = 1
}

{
	code = code_of($0)
	if (code ~ /^[ \t]*#/)
		code = ""
	for (word in banned)
		if (calls(code, word) && !((FILENAME, word) in excused))
			offence(word ": " banned[word])
	if (code ~ /(^|[^A-Za-z0-9_])typedef[ \t]+(struct|union|enum)[^A-Za-z0-9_]/)
		offence("typedef of a struct: write struct NAME")
	if (FILENAME !~ /^runtime\/util\/log\.c$/)
		for (i in printers)
			if (calls(code, printers[i]) || (printers[i] == "stdout" && code ~ /[^A-Za-z0-9_.]stdout[^A-Za-z0-9_]/))
				offence(printers[i] ": only cli and the log print")
	if (FILENAME ~ /^runtime\/(plan|policy)\//)
		for (i in acting)
			if (calls(code, acting[i]))
				offence(acting[i] ": this folder decides and does not act")
	if (code ~ /(^|[^A-Za-z0-9_])goto[ \t]/ && code !~ /goto[ \t]+(undo|fail)[a-z_]*;/)
		offence("goto is for undoing kernel state only: label it undo")
	statement = statement " " code
	if (code ~ /[;{}]/) {
		check_open(statement)
		statement = ""
		without_cloexec = 0
	}
}

END {
	exit bad
}
