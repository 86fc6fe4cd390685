/*
 * `features`: what this build understands, from the tables that the reader itself
 * uses. Engines call it without a container and without global options.
 */
#include "commands/commands.h"

static const char *const hook_names[] = {
	"prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop",
};

/* Annotations that change what is done to the host; one that ends in "." is a prefix. */
static const char *const unsafe_annotations[] = {
	"run.oci.",
};

static void write_strings(struct json_writer *w, const char *key, const char *const *items,
			  size_t count)
{
	json_array_begin(w, key);
	for (size_t i = 0; i < count; i++)
		json_string(w, NULL, items[i]);
	json_array_end(w);
}

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args,
	       struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(4);
	_cleanup_free_ char *text = NULL;
	int r;

	if (!w)
		return error_oom(err);
	json_object_begin(w, NULL);
	json_string(w, "ociVersionMin", SPEC_VERSION_MIN);
	json_string(w, "ociVersionMax", SPEC_VERSION_MAX);
	write_strings(w, "hooks", hook_names, ELEMENTSOF(hook_names));
	r = container_features_write(w, err);
	if (r < 0)
		return r;
	json_object_begin(w, "annotations");
	json_string(w, "io.github.seccomp.libseccomp.version", container_seccomp_version());
	json_string(w, "org.opencontainers.runc.checkpoint.enabled", "true");
	json_string(w, "org.agentrun.version", ctx->version);
	json_string(w, "org.agentrun.commit", ctx->commit);
	json_object_end(w);
	write_strings(w, "potentiallyUnsafeConfigAnnotations", unsafe_annotations,
		      ELEMENTSOF(unsafe_annotations));
	json_object_end(w);
	r = json_take(w, &text, err);
	if (r < 0)
		return r;
	return command_write(ctx, text, true, err);
}

const struct command cmd_features = {
	.name = "features",
	.summary = "print what this build supports as JSON",
	.synopsis = "",
	.max_args = 0,
	.run = run,
};
