/*
 * Owns the connection and the calls. systemd answers a start or stop with the name of a job;
 * what became of it comes as a signal, which is waited for here with a limit.
 */
#include "systemd/systemd_private.h"

#include <assert.h>
#include <stdarg.h>
#include <time.h>

#include "util/parse.h"
#include "util/str.h"

#define SECOND_US	UINT64_C(1000000)
/* How long an ended unit may take to be forgotten by systemd. */
#define GONE_TRIES	60
#define GONE_STEP_NS	(50 * 1000 * 1000)

void systemd_error_free(sd_bus_error *e)
{
	sd_bus_error_free(e);
}

int systemd_failed(const sd_bus_error *e, int r, struct error *err, const char *fmt, ...)
{
	char what[ERROR_TEXT_MAX / 2];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (!sd_bus_error_is_set(e))
		return error_set(err, r < 0 ? r : -EIO, "%s", what);
	r = -sd_bus_error_get_errno(e);
	return error_text(err, r < 0 ? r : -EIO, "%s: systemd says: %s", what,
			  e->message ? e->message : e->name);
}

static int connect_to(const char *address, sd_bus **ret)
{
	sd_bus *bus = NULL;
	int r;

	r = sd_bus_new(&bus);
	if (r >= 0)
		r = sd_bus_set_address(bus, address);
	if (r >= 0)
		r = sd_bus_start(bus);
	if (r < 0) {
		sd_bus_unref(bus);
		return r;
	}
	*ret = bus;
	return 0;
}

/* The bus, and systemd's own socket where no bus runs. */
static int connect_any(bool user, sd_bus **ret)
{
	_cleanup_free_ char *address = NULL;
	const char *run = user ? getenv("XDG_RUNTIME_DIR") : "/run";
	int r, first;

	first = user ? sd_bus_open_user(ret) : sd_bus_open_system(ret);
	if (first >= 0 || !run)
		return first;
	address = str_printf("unix:path=%s/systemd/private", run);
	if (!address)
		return -ENOMEM;
	r = connect_to(address, ret);
	return r < 0 ? first : 0;
}

static int job_removed(sd_bus_message *m, void *arg, sd_bus_error *ignored)
{
	const char *path, *unit, *result;
	struct systemd *s = arg;
	uint32_t id;

	if (sd_bus_message_read(m, "uoss", &id, &path, &unit, &result) < 0)
		return 0;
	if (s->job && str_eq(path, s->job))
		(void)snprintf(s->result, sizeof(s->result), "%s", result);
	return 0;
}

int systemd_open(bool user, struct systemd **ret, struct error *err)
{
	struct systemd *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return error_oom(err);
	r = connect_any(user, &s->bus);
	if (r < 0) {
		free(s);
		if (user)
			return error_set(err, r,
					 "connect to the user's systemd (XDG_RUNTIME_DIR and a user "
					 "session with dbus are needed)");
		return error_set(err, r, "connect to systemd over the system bus");
	}
	(void)sd_bus_set_method_call_timeout(s->bus, SYSTEMD_JOB_SECONDS * SECOND_US);
	r = sd_bus_match_signal(s->bus, NULL, NULL, SYSTEMD_PATH, SYSTEMD_MANAGER, "JobRemoved",
				job_removed, s);
	if (r < 0) {
		systemd_close(s);
		return error_set(err, r, "listen to systemd");
	}
	*ret = s;
	return 0;
}

struct systemd *systemd_close(struct systemd *s)
{
	if (s) {
		sd_bus_flush_close_unref(s->bus);
		free(s->job);
		free(s);
	}
	return NULL;
}

static int manager_get(struct systemd *s, const char *property, char *buf, size_t size,
		       struct error *err)
{
	_cleanup_sd_error_ sd_bus_error e = SD_BUS_ERROR_NULL;
	_cleanup_free_ char *text = NULL;
	int r;

	r = sd_bus_get_property_string(s->bus, SYSTEMD_NAME, SYSTEMD_PATH, SYSTEMD_MANAGER, property,
				       &e, &text);
	if (r < 0)
		return systemd_failed(&e, r, err, "ask systemd for its %s", property);
	if (strlen(text) >= size)
		return error_text(err, -ENAMETOOLONG, "ask systemd for its %s: too long", property);
	(void)snprintf(buf, size, "%s", text);
	return 0;
}

int systemd_manager_cgroup(struct systemd *s, char ret[PATH_MAX], struct error *err)
{
	return manager_get(s, "ControlGroup", ret, PATH_MAX, err);
}

/* "252.39-1~deb12u2", "v257.1" */
int systemd_version(struct systemd *s, unsigned *ret, struct error *err)
{
	char text[256], *p = text;
	uint32_t version;
	int r;

	if (s->version == 0) {
		r = manager_get(s, "Version", text, sizeof(text), err);
		if (r < 0)
			return r;
		p += strcspn(p, "0123456789");
		p[strspn(p, "0123456789")] = '\0';
		if (parse_u32(p, &version) < 0)
			return error_text(err, -EBADMSG, "ask systemd for its version: no number");
		s->version = version;
	}
	*ret = s->version;
	return 0;
}

static uint64_t now_us(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND_US + (uint64_t)now.tv_nsec / 1000;
}

/* reply holds the job's path. */
static int job_wait(struct systemd *s, sd_bus_message *reply, const char *what, const char *unit,
		    struct error *err)
{
	uint64_t now, end = now_us() + SYSTEMD_JOB_SECONDS * SECOND_US;
	const char *path;
	int r;

	r = sd_bus_message_read(reply, "o", &path);
	if (r < 0)
		return error_set(err, r, "%s %s: read systemd's answer", what, unit);
	free(s->job);
	s->job = strdup(path);
	if (!s->job)
		return error_oom(err);
	s->result[0] = '\0';
	while (!s->result[0]) {
		r = sd_bus_process(s->bus, NULL);
		if (r == 0) {
			now = now_us();
			if (now >= end)
				return error_text(err, -ETIMEDOUT,
						  "%s %s: systemd did not finish within %d s", what,
						  unit, SYSTEMD_JOB_SECONDS);
			r = sd_bus_wait(s->bus, end - now);
		}
		if (r < 0 && r != -EINTR)
			return error_set(err, r, "%s %s: wait for systemd", what, unit);
	}
	if (!str_eq(s->result, "done"))
		return error_text(err, -EIO, "%s %s: systemd's job ended as \"%s\"", what, unit, s->result);
	return 0;
}

/* Signals are sent only while somebody has asked for them. */
static int subscribe(struct systemd *s, struct error *err)
{
	_cleanup_sd_error_ sd_bus_error e = SD_BUS_ERROR_NULL;
	int r;

	r = sd_bus_call_method(s->bus, SYSTEMD_NAME, SYSTEMD_PATH, SYSTEMD_MANAGER, "Subscribe", &e,
			       NULL, NULL);
	if (r < 0 && !sd_bus_error_has_name(&e, SYSTEMD_NAME ".AlreadySubscribed"))
		return systemd_failed(&e, r, err, "subscribe to systemd's jobs");
	return 0;
}

/* "active", "inactive", "failed", …; "" when there is none. */
static void unit_state(struct systemd *s, const char *unit, char *buf, size_t size)
{
	_cleanup_message_ sd_bus_message *reply = NULL;
	_cleanup_free_ char *state = NULL;
	const char *path;

	buf[0] = '\0';
	if (sd_bus_call_method(s->bus, SYSTEMD_NAME, SYSTEMD_PATH, SYSTEMD_MANAGER, "GetUnit", NULL,
			       &reply, "s", unit) < 0 ||
	    sd_bus_message_read(reply, "o", &path) < 0 ||
	    sd_bus_get_property_string(s->bus, SYSTEMD_NAME, path, SYSTEMD_NAME ".Unit", "ActiveState",
				       NULL, &state) < 0)
		return;
	(void)snprintf(buf, size, "%s", state);
}

static void reset_failed(struct systemd *s, const char *unit)
{
	(void)sd_bus_call_method(s->bus, SYSTEMD_NAME, SYSTEMD_PATH, SYSTEMD_MANAGER,
				 "ResetFailedUnit", NULL, NULL, "s", unit);
}

/* 1: a unit of that name is there and about to vanish. */
static int scope_try(struct systemd *s, const char *unit, const char *slice,
		     const struct cgroup_props *props, struct error *err)
{
	_cleanup_message_ sd_bus_message *m = NULL, *reply = NULL;
	_cleanup_sd_error_ sd_bus_error e = SD_BUS_ERROR_NULL;
	char state[32];
	int r;

	r = systemd_scope_message(s, unit, slice, props, &m, err);
	if (r < 0)
		return r;
	r = sd_bus_call(s->bus, m, 0, &e, &reply);
	if (r < 0 && sd_bus_error_has_name(&e, SYSTEMD_EXISTS)) {
		unit_state(s, unit, state, sizeof(state));
		if (str_eq(state, "active") || str_eq(state, "activating"))
			return error_text(err, -EEXIST,
					  "start %s: a unit of that name is %s: choose another name "
					  "in cgroupsPath, or end it with systemctl stop",
					  unit, state);
		reset_failed(s, unit);
		return 1;
	}
	if (r < 0)
		return systemd_failed(&e, r, err, "start %s", unit);
	r = job_wait(s, reply, "start", unit, err);
	if (r < 0)
		reset_failed(s, unit);
	return r;
}

int systemd_start_scope(struct systemd *s, const char *unit, const char *slice,
			const struct cgroup_props *props, struct error *err)
{
	const struct timespec step = { .tv_nsec = GONE_STEP_NS };
	unsigned tries;
	int r;

	assert(s && unit && slice);

	r = subscribe(s, err);
	if (r < 0)
		return r;
	for (tries = 0; tries < GONE_TRIES; tries++) {
		r = scope_try(s, unit, slice, props, err);
		if (r <= 0)
			return r;
		(void)nanosleep(&step, NULL);
	}
	return error_text(err, -EEXIST, "start %s: systemd does not forget the old unit of that name", unit);
}

int systemd_set_properties(struct systemd *s, const char *unit, const struct cgroup_props *props,
			   struct error *err)
{
	_cleanup_message_ sd_bus_message *m = NULL;
	_cleanup_sd_error_ sd_bus_error e = SD_BUS_ERROR_NULL;
	char ignored[PATH_MAX];
	int r;

	r = sd_bus_message_new_method_call(s->bus, &m, SYSTEMD_NAME, SYSTEMD_PATH, SYSTEMD_MANAGER,
					   "SetUnitProperties");
	if (r >= 0)
		r = sd_bus_message_append(m, "sb", unit, 1);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "(sv)");
	if (r < 0)
		return error_set(err, r, "compose the properties of %s", unit);
	r = systemd_props_append(s, m, props, err);
	if (r < 0)
		return r;
	r = sd_bus_message_close_container(m);
	if (r < 0)
		return error_set(err, r, "compose the properties of %s", unit);
	r = sd_bus_call(s->bus, m, 0, &e, NULL);
	if (r < 0)
		return systemd_failed(&e, r, err, "set properties of %s", unit);
	/*
	 * The files are written from a queue, after the answer. systemd takes one message in each
	 * turn of its loop and works the queue off before: the next answer says that it is done.
	 */
	return systemd_manager_cgroup(s, ignored, err);
}

int systemd_stop(struct systemd *s, const char *unit, struct error *err)
{
	_cleanup_message_ sd_bus_message *reply = NULL;
	_cleanup_sd_error_ sd_bus_error e = SD_BUS_ERROR_NULL;
	int r;

	r = subscribe(s, err);
	if (r < 0)
		return r;
	r = sd_bus_call_method(s->bus, SYSTEMD_NAME, SYSTEMD_PATH, SYSTEMD_MANAGER, "StopUnit", &e,
			       &reply, "ss", unit, "replace");
	if (r < 0 && sd_bus_error_has_name(&e, SYSTEMD_NO_UNIT))
		return 0;
	if (r < 0)
		return systemd_failed(&e, r, err, "stop %s", unit);
	r = job_wait(s, reply, "stop", unit, err);
	reset_failed(s, unit);
	return r;
}
