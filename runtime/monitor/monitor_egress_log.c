/*
 * Egress in the log: denials of the kernel, names, and connections whose server name was
 * looked at. A log that fails has ended the container by then; nothing more is said here.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "monitor/monitor_audit.h"
#include "monitor/monitor_egress.h"
#include "util/str.h"

static const char *address_text(const uint8_t a[16], char buf[INET6_ADDRSTRLEN])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (memcmp(a, mapped, sizeof(mapped)) == 0)
		return inet_ntop(AF_INET, a + 12, buf, INET6_ADDRSTRLEN);
	return inet_ntop(AF_INET6, a, buf, INET6_ADDRSTRLEN);
}

static const char *protocol_text(uint8_t protocol)
{
	switch (protocol) {
	case IPPROTO_TCP:
		return "tcp";
	case IPPROTO_UDP:
		return "udp";
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return "icmp";
	default:
		return NULL;
	}
}

static void emit(struct monitor *m, const struct audit_egress_denied *denied)
{
	const struct audit_event event = { .type = AUDIT_EGRESS_DENIED, .process = -1, .egress_denied = *denied };
	struct error ignored = ERROR_NULL;

	(void)monitor_log(m, &event, &ignored);
}

void monitor_egress_log_denial(struct monitor *m, const struct egress_event *e, const char *learned, uint64_t suppressed)
{
	static const char *const whats[] = {
		[EGRESS_HOOK_CONNECT] = "connect", [EGRESS_HOOK_SENDMSG] = "send",     [EGRESS_HOOK_SOCKET] = "socket",
		[EGRESS_HOOK_PACKET] = "packet",   [EGRESS_HOOK_SPOOFED] = "spoofed",
	};
	char address[INET6_ADDRSTRLEN];
	const bool has_address = e->hook != EGRESS_HOOK_SOCKET;
	const char *name = has_address ? learned : NULL;

	emit(m, &(struct audit_egress_denied){
			.what = e->hook < ELEMENTSOF(whats) && whats[e->hook] ? whats[e->hook] : "other",
			.name = AUDIT_BYTES(name),
			.comm = { .data = e->comm[0] ? e->comm : NULL, .len = strnlen(e->comm, sizeof(e->comm)) },
			.address = has_address ? address_text(e->address, address) : NULL,
			.port = e->port,
			.protocol = protocol_text(e->protocol),
			.reason = "unlisted",
			.suppressed = suppressed,
		});
}

void monitor_egress_log_name(struct monitor *m, const struct egress_name_event *e)
{
	struct audit_event event = { .type = AUDIT_EGRESS_NAME, .process = -1 };
	struct error ignored = ERROR_NULL;
	char address[INET6_ADDRSTRLEN];

	if (e->kind == EGRESS_NAME_ALLOWED) {
		event.egress_name.name = AUDIT_BYTES(e->name);
		(void)monitor_log(m, &event, &ignored);
		return;
	}
	emit(m, &(struct audit_egress_denied){
			.what = "name",
			.name = AUDIT_BYTES(e->name),
			.address = e->address ? address_text(e->address, address) : NULL,
			.reason = e->reason ? e->reason : egress_name_event_text(e->kind),
			.suppressed = e->suppressed,
		});
}

void monitor_egress_log_rules(struct monitor *m, const struct monitor_config *c)
{
	struct audit_event event = { .type = AUDIT_OPERATION, .process = -1, .operation = { .name = "update" } };
	const struct monitor_rule *rules = c->egress.rules.items;
	_cleanup_buf_ struct buf detail = BUF_NULL;
	struct error ignored = ERROR_NULL;
	size_t i;

	buf_adds(&detail, "egress: ");
	for (i = 0; i < c->egress.rules.count && detail.len < AUDIT_TEXT_MAX; i++)
		buf_addf(&detail, "%s%s%s%s", i ? ", " : "", rules[i].host ? rules[i].host : rules[i].cidr,
			 rules[i].ports ? " " : "", rules[i].ports ? rules[i].ports : "");
	if (i == 0)
		buf_adds(&detail, "nothing");
	event.operation.detail = buf_ok(&detail) ? detail.data : "egress";
	(void)monitor_log(m, &event, &ignored);
}

void monitor_egress_log_sni(struct monitor *m, const struct egress_sni_event *e, const char *learned)
{
	/* Without a name of its own, or with one that hides another, the one it was reached by. */
	const char *name = e->kind != EGRESS_SNI_DENIED && learned ? learned : e->name;
	char address[INET6_ADDRSTRLEN];

	if (e->kind == EGRESS_SNI_ALLOWED)
		return;
	emit(m, &(struct audit_egress_denied){
			.what = "sni",
			.name = AUDIT_BYTES(name),
			.address = e->target ? address_text(e->target->address, address) : NULL,
			.port = e->target ? e->target->port : 0,
			.protocol = "tcp",
			.reason = egress_sni_event_text(e->kind),
			.suppressed = e->suppressed,
		});
}
