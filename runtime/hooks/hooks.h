/*
 * OCI hooks: order, state on stdin, environment, working directory, timeouts, and
 * the message when one fails. Knows no containers: gets the state text.
 */
#pragma once

#include <stdbool.h>

#include "spec/spec.h"
#include "util/error.h"

struct hook_env {
	const char *kind; /* "prestart", "createRuntime", … for messages */
	const char *state_json; /* one line, unescaped slashes */
	const char *cwd; /* NULL = stay */
	char *const *default_env; /* used when the hook has none (stage dependent); NULL = empty */
	/* Annotations run.oci.hooks.stdout and .stderr: appended to; NULL = captured. */
	const char *stdout_file, *stderr_file;
	/* As in struct spawn. */
	bool swept;
};

/*
 * Runs the list in order in this process's namespaces; stops at the first failure:
 * error running KIND hook #N: exit status 3, stdout: …, stderr: …
 * error running KIND hook #N: signal: killed, stdout: …, stderr: …
 * error running KIND hook #N: hook ran past specified timeout of 1.0s   (-ETIMEDOUT)
 * error running KIND hook #N: exec PATH: no such file or directory
 */
int hooks_run(const struct spec_hook *items, size_t count, const struct hook_env *env,
	      struct error *err);
