/*
 * Configurations as engines wrote them: all load, and values that are easily read
 * wrongly come out right.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/sched.h>

#include "tests/unit/test_spec_fixture.h"

static int captured_dir(void)
{
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s/tests/data/configs", fixture_srcdir());
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int load_one(int dir, const char *name, struct error *err)
{
	_cleanup_free_ char *data = NULL;
	struct arena arena = ARENA_NULL;
	struct spec_process *process;
	struct spec_resources *resources;
	_cleanup_spec_ struct spec *s = NULL;
	size_t len;
	int r;

	if (!str_after(name, "process-") && !str_after(name, "update-"))
		return spec_load(dir, name, &s, err);
	r = file_read_all(dir, name, JSON_BYTES_MAX, &data, &len, err);
	if (r < 0)
		return r;
	r = name[0] == 'p' ? spec_parse_process(name, data, len, &arena, &process, err) :
			     spec_parse_resources(name, data, len, &arena, &resources, err);
	arena_done(&arena);
	return r;
}

static void test_all(int dir)
{
	_cleanup_closedir_ DIR *d = fdopendir(fcntl(dir, F_DUPFD_CLOEXEC, 3));
	struct error err;
	struct dirent *e;
	size_t n = 0;

	while (d && (e = readdir(d))) {
		size_t len = strlen(e->d_name);

		if (len < 6 || !str_eq(e->d_name + len - 5, ".json"))
			continue;
		n++;
		err = ERROR_NULL;
		ok(load_one(dir, e->d_name, &err) == 0, "%s %s", e->d_name, err.text);
	}
	is_int(n, 94, "captured files");
}

static struct spec *captured(int dir, const char *name)
{
	struct error err = ERROR_NULL;
	struct spec *s = NULL;

	if (spec_load(dir, name, &s, &err) < 0)
		ok(false, "%s", err.text);
	return s;
}

static void test_values(int dir)
{
	_cleanup_spec_ struct spec *run = captured(dir, "docker20-run.json");
	_cleanup_spec_ struct spec *maps = captured(dir, "podman43-rootless-keep-id.json");
	_cleanup_spec_ struct spec *cri = captured(dir, "cri-container.json");
	_cleanup_spec_ struct spec *hooks = captured(dir, "podman43-oci-hooks.json");
	const struct spec_resources *res;

	if (!run || !maps || !cri || !hooks)
		return;
	res = run->linux_cfg->resources;
	ok(res->cpu->shares.set && res->cpu->shares.value == 0, "docker: shares 0 is present");
	ok(res->block_io->weight.set && res->block_io->weight.value == 0, "docker: weight 0");
	ok(res->memory->disable_oom_killer.set && !res->memory->disable_oom_killer.value,
	   "docker: disableOOMKiller false");
	ok(!res->memory->limit.set, "docker: no memory limit");
	is_int(run->hooks->prestart.count, 1, "docker: network hook");
	ok(run->process->oom_score_adj.set, "docker: oomScoreAdj 0");
	is_int(run->process->user.additional_gids.count, 1, "docker: groups");
	ok(run->linux_cfg->seccomp->syscalls.count > 5, "docker: seccomp rules");
	is_int(maps->linux_cfg->uid_mappings.count, 3, "podman: three ranges");
	is_int(maps->linux_cfg->uid_mappings.items[1].container_id, 4242, "podman: own id");
	is_int(maps->process->user.umask.value, 18, "podman: umask");
	ok(spec_namespace_find(cri, CLONE_NEWNET)->path != NULL, "CRI: joined network");
	is_int(hooks->hooks->create_container.count + hooks->hooks->start_container.count +
		       hooks->hooks->poststart.count + hooks->hooks->poststop.count,
	       3, "podman: hooks by stage");
}

int main(void)
{
	_cleanup_close_ int dir = captured_dir();

	if (dir < 0)
		return TAP_SKIP_ALL("tests/data/configs not found; set srcdir");
	TAP_BEGIN();
	test_all(dir);
	test_values(dir);
	return TAP_END();
}
