/*
 * Plans of captured configurations: all can be built, and the representative ones
 * equal tests/golden/plans. With --update the golden files are written instead.
 */
#include <dirent.h>
#include <fcntl.h>

#include "tests/unit/test_plan_fixture.h"

/* Each stands for something the others do not have. */
static const char *const golden[] = {
	"buildah128-build-run",
	"containerd16-ctr-limits",
	"containerd16-ctr-privileged-nethost",
	"containerd16-ctr-readonly-mount",
	"cri-container-securitycontext",
	"cri-container-tty",
	"cri-hostpid-container",
	"cri-sandbox",
	"docker20-buildkit-run",
	"docker20-cap-drop-all",
	"docker20-cgroupns-private",
	"docker20-device",
	"docker20-join-container-ns",
	"docker20-mount-bind-tmpfs",
	"docker20-pid-ipc-uts-host",
	"docker20-privileged",
	"docker20-run",
	"docker20-run-tty",
	"docker20-sysctl",
	"podman43-annotations",
	"podman43-listen-fds",
	"podman43-mask-unmask",
	"podman43-privileged",
	"podman43-rootless-keep-id",
	"podman43-run",
	"podman43-umask",
	"podman43-userns-uidmap",
	"podman43-volume-idmap-option",
	"podman43-volumes",
};

static int dir_open(const char *name)
{
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s/tests/%s", fixture_srcdir(), name);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* The printed plan with a newline at the end, or NULL and err. */
static char *plan_text(int configs, const char *file, struct error *err)
{
	bool rootless = strstr(file, "rootless") != NULL;
	const struct plan_request req = { .id = "golden",
					  .bundle = "/bundle",
					  .rootless = rootless,
					  .in_userns = rootless };
	_cleanup_spec_ struct spec *s = NULL;
	_cleanup_plan_ struct plan *p = NULL;
	_cleanup_free_ char *text = NULL;

	if (spec_load(configs, file, &s, err) < 0 || plan_build(s, &req, &p, err) < 0 ||
	    plan_print(p, &text, err) < 0)
		return NULL;
	return str_printf("%s\n", text);
}

static void golden_one(int configs, int plans, const char *name, bool update)
{
	_cleanup_free_ char *file = str_printf("%s.json", name);
	_cleanup_free_ char *want = NULL, *got = NULL;
	struct error err = ERROR_NULL;
	size_t len, i, line = 1;

	got = file ? plan_text(configs, file, &err) : NULL;
	if (!got) {
		ok(false, "plan of %s: %s", name, err.text);
		return;
	}
	if (update) {
		ok(file_replace(plans, file, got, strlen(got), 0644, 0, &err) == 0, "wrote %s %s",
		   name, err.text);
		return;
	}
	if (file_read_all(plans, file, JSON_BYTES_MAX, &want, &len, &err) < 0) {
		ok(false, "golden plan: %s", err.text);
		return;
	}
	if (ok(str_eq(got, want), "golden plan of %s", name))
		return;
	for (i = 0; got[i] && got[i] == want[i]; i++)
		line += got[i] == '\n';
	printf("#   first difference in line %zu; tests/golden/update-plans accepts the new plan\n",
	       line);
}

static void build_all(int configs)
{
	_cleanup_closedir_ DIR *d = fdopendir(fcntl(configs, F_DUPFD_CLOEXEC, 3));
	struct dirent *e;
	size_t n = 0;

	while (d && (e = readdir(d))) {
		size_t len = strlen(e->d_name);
		struct error err = ERROR_NULL;
		_cleanup_free_ char *text = NULL;

		if (len < 6 || !str_eq(e->d_name + len - 5, ".json") ||
		    str_after(e->d_name, "process-") || str_after(e->d_name, "update-"))
			continue;
		n++;
		text = plan_text(configs, e->d_name, &err);
		ok(text != NULL, "%s %s", e->d_name, err.text);
	}
	is_int(n, 80, "captured configurations");
}

int main(int argc, char **argv)
{
	_cleanup_close_ int configs = dir_open("data/configs");
	_cleanup_close_ int plans = dir_open("golden/plans");
	bool update = argc > 1 && str_eq(argv[1], "--update");
	size_t i;

	if (configs < 0 || plans < 0)
		return TAP_SKIP_ALL("tests/data or tests/golden not found; set srcdir");
	TAP_BEGIN();
	for (i = 0; i < ELEMENTSOF(golden); i++)
		golden_one(configs, plans, golden[i], update);
	build_all(configs);
	return TAP_END();
}
