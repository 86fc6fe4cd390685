/* Credentials: each step in a child of its own, read back through /proc. */
#include <grp.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/creds.h"
#include "os/procfs.h"
#include "tests/unit/tap.h"

#define BIT(n) (UINT64_C(1) << (n))

static struct error err;
static int proc = -1;
static const char *why;

#define CHECK(cond)                   \
	do {                          \
		if (!(cond)) {        \
			why = #cond;  \
			return 1;     \
		}                     \
	} while (0)

/* A hexadecimal or decimal field of /proc/self/status. */
static unsigned long long field(const char *name, int base)
{
	unsigned long long v = ~0ull;
	char *text = NULL, *p;

	if (procfs_read(proc, "self/status", &text, &err) == 0) {
		p = strstr(text, name);
		if (p)
			v = strtoull(p + strlen(name), NULL, base);
	}
	free(text);
	return v;
}

static void in_child(int (*fn)(void), const char *name)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		int r = fn();

		if (r == 1)
			printf("# failed: %s (last error: %s)\n", why, err.text);
		fflush(stdout);
		_exit(r);
	}
	waitpid(pid, &status, 0);
	is_int(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0, name);
}

static int drop_to_user(void)
{
	const gid_t groups[] = { 10, 20 };
	const struct creds c = {
		.uid = 1234, .gid = 4321, .groups = groups, .n_groups = 2, .set_caps = true,
		.caps = { .bounding = BIT(CAP_CHOWN) | BIT(CAP_KILL), .effective = BIT(CAP_CHOWN),
			  .permitted = BIT(CAP_CHOWN) | BIT(CAP_KILL), .inheritable = BIT(CAP_CHOWN),
			  .ambient = BIT(CAP_CHOWN) },
	};
	gid_t got[4];

	CHECK(creds_drop_bounding(&c, &err) == 0);
	CHECK(field("CapBnd:", 16) == (BIT(CAP_CHOWN) | BIT(CAP_KILL)));
	CHECK(creds_set_ids(&c, &err) == 0);
	CHECK(field("CapEff:", 16) & BIT(CAP_SYS_ADMIN)); /* kept for the steps in between */
	CHECK(creds_set_caps(&c, &err) == 0);
	CHECK(getuid() == 1234 && geteuid() == 1234 && getgid() == 4321 && getegid() == 4321);
	CHECK(getgroups(4, got) == 2 && got[0] == 10 && got[1] == 20);
	CHECK(field("CapPrm:", 16) == (BIT(CAP_CHOWN) | BIT(CAP_KILL)));
	CHECK(field("CapEff:", 16) == BIT(CAP_CHOWN));
	CHECK(field("CapInh:", 16) == BIT(CAP_CHOWN));
	CHECK(field("CapAmb:", 16) == BIT(CAP_CHOWN));
	CHECK(setuid(0) < 0);
	CHECK(setgroups(0, NULL) < 0);
	return 0;
}

static int drop_everything(void)
{
	const struct creds c = { .uid = 1234, .gid = 0, .set_caps = true };

	CHECK(creds_drop_bounding(&c, &err) == 0 && creds_set_ids(&c, &err) == 0 &&
	      creds_set_caps(&c, &err) == 0);
	CHECK(field("CapPrm:", 16) == 0 && field("CapEff:", 16) == 0 && field("CapInh:", 16) == 0);
	CHECK(field("CapBnd:", 16) == 0 && field("CapAmb:", 16) == 0);
	CHECK(getgroups(0, NULL) == 0);
	return 0;
}

/* Root in the container, and a bit that no process here has. */
static int ungrantable(void)
{
	struct creds c = { .set_caps = true, .keep_groups = true };
	uint64_t known = 0;

	c.caps.bounding = UINT64_MAX;
	c.caps.permitted = BIT(CAP_CHOWN) | BIT(62);
	c.caps.effective = c.caps.permitted;
	c.caps.ambient = BIT(CAP_CHOWN); /* not inheritable: impossible, skipped */
	CHECK(caps_known(proc, &known, &err) == 0);
	CHECK((known & BIT(CAP_CHOWN)) && !(known & BIT(62)));
	CHECK(creds_drop_bounding(&c, &err) == 0 && creds_set_ids(&c, &err) == 0);
	CHECK(creds_set_caps(&c, &err) == 0);
	CHECK(field("CapPrm:", 16) == BIT(CAP_CHOWN) && field("CapEff:", 16) == BIT(CAP_CHOWN));
	CHECK(field("CapAmb:", 16) == 0);
	return 0;
}

static int kept_setuid(void)
{
	const struct creds c = {
		.uid = 1234, .gid = 1234, .set_caps = true,
		.caps = { .bounding = BIT(CAP_SETUID), .effective = BIT(CAP_SETUID),
			  .permitted = BIT(CAP_SETUID) },
	};

	CHECK(creds_drop_bounding(&c, &err) == 0 && creds_set_ids(&c, &err) == 0);
	CHECK(creds_set_caps(&c, &err) == 0);
	CHECK(getuid() == 1234);
	CHECK(setuid(0) == 0); /* granted on purpose */
	return 0;
}

static int without_caps(void)
{
	const gid_t groups[] = { 7 };
	const struct creds c = { .uid = 99, .gid = 98, .groups = groups, .n_groups = 1 };
	uint64_t bounding = field("CapBnd:", 16);

	CHECK(creds_drop_bounding(&c, &err) == 0 && field("CapBnd:", 16) == bounding);
	CHECK(creds_set_ids(&c, &err) == 0 && creds_set_caps(&c, &err) == 0);
	CHECK(field("CapPrm:", 16) == 0 && getuid() == 99 && getgid() == 98);
	return 0;
}

static int keep_groups(void)
{
	const gid_t groups[] = { 7, 8 };
	const struct creds c = { .keep_groups = true };

	CHECK(setgroups(2, groups) == 0);
	CHECK(creds_set_ids(&c, &err) == 0);
	CHECK(getgroups(0, NULL) == 2);
	return 0;
}

static int no_privilege(void)
{
	struct creds c = { .uid = 0, .gid = 0, .keep_groups = true };
	const gid_t groups[] = { 7 };

	CHECK(setresgid(1000, 1000, 1000) == 0 && setresuid(1000, 1000, 1000) == 0);
	CHECK(creds_set_ids(&c, &err) == -EPERM);
	CHECK(strcmp(err.text, "set group id 0: operation not permitted") == 0);
	c = (struct creds){ .uid = 1000, .gid = 1000, .groups = groups, .n_groups = 1 };
	CHECK(creds_set_ids(&c, &err) == -EPERM);
	CHECK(strcmp(err.text, "set supplementary groups: operation not permitted") == 0);
	c = (struct creds){ .set_caps = true };
	CHECK(creds_drop_bounding(&c, &err) == -EPERM);
	CHECK(strcmp(err.text, "drop capability 0 from the bounding set: operation not permitted") == 0);
	return 0;
}

/* What the first phase did not do the third one must see. */
static int bounding_left(void)
{
	const struct creds c = { .set_caps = true, .caps = { .bounding = BIT(CAP_CHOWN) } };

	CHECK(field("CapBnd:", 16) & ~BIT(CAP_CHOWN));
	CHECK(creds_set_ids(&c, &err) == 0);
	CHECK(creds_set_caps(&c, &err) == -EPERM);
	CHECK(strncmp(err.text, "capabilities are not as set", 27) == 0);
	return 0;
}

/* A container's root without CAP_SETPCAP: there is nothing left to drop. */
static int bounding_gone(void)
{
	const struct creds first = { .set_caps = true, .caps = { .bounding = BIT(CAP_CHOWN) } };
	const struct creds more = { .set_caps = true };

	CHECK(creds_drop_bounding(&first, &err) == 0 && creds_set_ids(&first, &err) == 0 &&
	      creds_set_caps(&first, &err) == 0);
	CHECK(field("CapBnd:", 16) == BIT(CAP_CHOWN) && field("CapPrm:", 16) == 0);
	CHECK(creds_drop_bounding(&first, &err) == 0);
	CHECK(creds_drop_bounding(&more, &err) == -EPERM);
	CHECK(field("CapBnd:", 16) == BIT(CAP_CHOWN));
	return 0;
}

static int new_privs(void)
{
	CHECK(field("NoNewPrivs:", 10) == 0);
	CHECK(creds_set_no_new_privs(&err) == 0);
	CHECK(field("NoNewPrivs:", 10) == 1);
	return 0;
}

static void test_grantable(void)
{
	const struct caps_sets have = { .bounding = 0xff, .permitted = 0x0f, .effective = 0x0f };
	const struct caps_sets want = { .bounding = 0x107, .permitted = 0x13, .effective = 0x07,
					.inheritable = 0x0f, .ambient = 0x03 };
	struct caps_sets got;
	uint64_t dropped = 0;

	caps_grantable(&want, &have, &got, &dropped);
	is_int(got.bounding, 0x07, "bounding: what the bounding set has");
	is_int(got.permitted, 0x03, "permitted: what is permitted");
	is_int(got.effective, 0x03, "effective: only what becomes permitted");
	is_int(got.inheritable, 0x07, "inheritable: permitted and in the new bounding set");
	is_int(got.ambient, 0x03, "ambient: permitted and inheritable");
	is_int(dropped, 0x11c, "all that could not be given");
	caps_grantable(&got, &have, &got, &dropped);
	is_int(dropped, 0, "asking for the possible drops nothing");
}

static void test_current(void)
{
	struct caps_sets now;

	is_int(caps_current(&now, &err), 0, "read the own sets");
	ok(now.permitted == field("CapPrm:", 16) && now.effective == field("CapEff:", 16) &&
	   now.inheritable == field("CapInh:", 16) && now.bounding == field("CapBnd:", 16) &&
	   now.ambient == field("CapAmb:", 16), "as /proc shows them");
}

int main(void)
{
	TAP_BEGIN();
	is_int(procfs_open(&proc, &err), 0, "open /proc");
	test_grantable();
	test_current();
	in_child(new_privs, "no_new_privs");
	if (geteuid() == 0) {
		in_child(drop_to_user, "a user with some capabilities");
		in_child(drop_everything, "a user with none");
		in_child(ungrantable, "what cannot be granted is left out");
		in_child(kept_setuid, "CAP_SETUID on purpose");
		in_child(without_caps, "no capabilities given");
		in_child(keep_groups, "groups kept");
		in_child(no_privilege, "messages without privilege");
		in_child(bounding_left, "a bounding set that is too large");
		in_child(bounding_gone, "a bounding set that is small enough");
	}
	return TAP_END();
}
