/*
 * The inside of struct egress_sni, shared by egress_sni.c (places, clock,
 * reports), egress_sni_hello.c (who may), egress_sni_target.c (the way to the target) and
 * egress_sni_forward.c (the bytes).
 */
#pragma once

#include "egress/egress_sni.h"
#include "egress/egress_tls.h"

#define SNI_CONNECT_MS	30000
#define SNI_PAUSE_MS	1000 /* without accepting, after descriptors ran out */
#define SNI_PIPE_SIZE	(1 << 20)
#define SNI_PIPES_KEPT	8 /* unused */
#define SNI_EVENTS_PER_S 20
#define SNI_EVENTS_BURST 100

#define MS 1000000ull

enum side { CLIENT, SERVER };

enum sni_state {
	SNI_HELLO, /* the client is to say which name */
	SNI_CONNECT, /* to the target */
	SNI_SEND, /* what the client said */
	SNI_ANSWER, /* the server may ask for another hello */
	SNI_AGAIN, /* it did: the client is to say the name again */
	SNI_FORWARD,
};

struct sni_pipe {
	int in, out; /* write end, read end */
};

/* Bytes from one side to the other. */
struct sni_flow {
	struct sni_pipe pipe; /* only while it holds bytes */
	size_t held;
	bool ended; /* nothing more comes */
	bool closed; /* and the other side was told */
};

struct sni_conn {
	struct sni_conn *next;
	struct egress_sni *proxy;
	enum sni_state state;
	struct ev_source source[2]; /* by side */
	struct sni_flow flow[2]; /* by the side it comes from */
	struct egress_sni_target target;
	uint64_t deadline; /* until forwarding */
	struct dns_name name;
	bool second; /* the hello below is the client's second */
	uint8_t *hello; /* taken from the client, on its way to the server */
	size_t hello_len, hello_at;
};

struct egress_sni {
	struct evloop *loop;
	struct egress_sni_config config;
	struct ev_source listeners[2]; /* IPv4, IPv6 */
	uint16_t ports[2];
	struct ev_timer timer;
	uint64_t accept_again; /* no descriptors were left; 0: accepting */
	struct sni_conn *conns;
	struct sni_pipe kept[SNI_PIPES_KEPT];
	size_t n_kept;
	struct egress_bucket events;
	uint64_t suppressed;
	struct egress_sni_stats stats;
	uint8_t peeked[TLS_STREAM_MAX], scratch[TLS_HELLO_MAX];
};

uint64_t sni_now(void);
/* kind also counts. hello, target: NULL = not known. */
void sni_report(struct egress_sni *p, enum egress_sni_event_kind kind, const struct tls_hello *hello,
		const struct egress_sni_target *target, int error);
/* Sets the timer to the first deadline there is. */
void sni_schedule(struct egress_sni *p);
/* reset: both ends learn that something was wrong. */
void sni_conn_free(struct sni_conn *c, bool reset);
/* Reports, resets and frees. */
void sni_refuse(struct sni_conn *c, enum egress_sni_event_kind kind, const struct tls_hello *hello, int error);

/* hello.c: bytes of a client that is to be judged. */
int sni_on_hello(struct evloop *l, struct ev_source *s, uint32_t events, struct error *err);
/* Whether a rule opens the connection's port for the name. */
bool sni_permitted(const struct egress_sni *p, const struct dns_name *name, uint16_t port);

/* target.c: makes the connection to the target, to begin with the hello. */
void sni_connect(struct sni_conn *c);
/* Sends the hello in c, then goes on. */
void sni_send_hello(struct sni_conn *c);
/* To be waked when that many bytes are there, not by each single one. */
bool sni_wait_bytes(int fd, size_t need);
void sni_tune(int fd);

/* What the server says, while the client is to be judged again. False: over or broken. */
bool sni_forward_answer(struct sni_conn *c);
/* Both ways as far as it goes without waiting. False: the connection is over or broken. */
bool sni_forward(struct sni_conn *c, bool *ret_whole);
/* Bytes that are held go with it. */
void sni_flow_done(struct egress_sni *p, struct sni_flow *f);
void sni_pipes_done(struct egress_sni *p);
