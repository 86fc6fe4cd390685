/*
 * Secrets that are known by how they begin: one row for each published format. A row asks
 * for as much as the format promises (alphabet, length), so that words, locale names and
 * hashes do not match; the prefix must stand at the begin of a word.
 */
#include <string.h>

#include "util/secrets.h"
#include "util/cleanup.h"

static bool with_digit(struct secret_text run)
{
	return secret_has_digit(run);
}

/* HTTP Basic: base64 of "user:password". */
static bool is_basic(struct secret_text run)
{
	char text[96];
	size_t i, n = secret_base64(run, text, sizeof(text));

	for (i = 0; i < n; i++)
		if (text[i] < ' ' || text[i] == 0x7f)
			return false;
	return n && memchr(text, ':', n);
}

/* header.payload.signature, both first JSON; or the five parts of an encrypted one. */
static bool is_jwt(struct secret_text run)
{
	size_t i, dots = 0, second = 0;

	for (i = 0; i < run.len; i++)
		if (run.s[i] == '.' && ++dots == 1)
			second = i + 1;
	if (second < 10)
		return false;
	return dots == 4 ||
	       (dots >= 2 && run.len - second > 10 && secret_begins(secret_from(run, second), "ey"));
}

/* Discord: user id, time stamp and signature in base64, dots between them. */
static bool is_discord(struct secret_text run)
{
	size_t first = secret_run(SECRET_URL, run);
	size_t second = secret_run(SECRET_URL, secret_from(run, first + 1));
	size_t third = secret_run(SECRET_URL, secret_from(run, first + second + 2));

	return first >= 22 && first <= 27 && second == 6 && third >= 27 &&
	       first + second + third + 2 == run.len;
}

/*
 * A private key in DER begins with SEQUENCE { INTEGER 0 or 1: the version; certificates
 * and public keys begin with SEQUENCE { SEQUENCE. The "MI" of the prefix is part of it.
 */
static bool is_der_key(struct secret_text run)
{
	char text[16] = { 'M', 'I' }, der[9] = { 0 };
	size_t skip;

	if (run.len < 12)
		return false;
	memcpy(text + 2, run.s, 12);
	if (secret_base64((struct secret_text){ text, 12 }, der, sizeof(der)) < 9)
		return false;
	skip = der[1] == (char)0x82 ? 4 : der[1] == (char)0x81 ? 3 : 2;
	return der[0] == 0x30 && der[skip] == 2 && der[skip + 1] == 1 &&
	       (der[skip + 2] == 0 || der[skip + 2] == 1);
}

/* clang-format off */
const struct secret_token secret_tokens[] = {
	/* model providers */
	{ "sk-ant-", SECRET_URL, 20, 0, "anthropic-key", NULL },
	{ "sk-proj-", SECRET_URL, 20, 0, "openai-key", with_digit },
	{ "sk-svcacct-", SECRET_URL, 20, 0, "openai-key", with_digit },
	{ "sk-admin-", SECRET_URL, 20, 0, "openai-key", with_digit },
	{ "sk-None-", SECRET_URL, 20, 0, "openai-key", with_digit },
	{ "sk-or-v1-", SECRET_HEX, 40, 0, "openrouter-key", NULL },
	{ "sk-lf-", SECRET_URL, 30, 0, "langfuse-key", NULL },
	{ "sk-", SECRET_ALNUM, 32, 0, "openai-style-key", with_digit },
	{ "csk-", SECRET_ALNUM, 40, 0, "cerebras-key", NULL },
	{ "gsk_", SECRET_ALNUM, 40, 0, "groq-key", NULL },
	{ "xai-", SECRET_ALNUM, 40, 0, "xai-key", NULL },
	{ "pplx-", SECRET_ALNUM, 40, 0, "perplexity-key", NULL },
	{ "nvapi-", SECRET_URL, 40, 0, "nvidia-key", NULL },
	{ "r8_", SECRET_ALNUM, 37, 0, "replicate-token", NULL },
	{ "hf_", SECRET_ALNUM, 34, 34, "huggingface-token", NULL },
	{ "api_org_", SECRET_ALNUM, 34, 34, "huggingface-token", NULL },
	{ "lsv2_", SECRET_WORD, 40, 0, "langsmith-key", NULL },
	{ "tvly-", SECRET_URL, 20, 0, "tavily-key", with_digit },
	{ "pcsk_", SECRET_WORD, 40, 0, "pinecone-key", NULL },
	{ "fc-", SECRET_HEX, 32, 32, "firecrawl-key", NULL },
	{ "e2b_", SECRET_HEX, 40, 40, "e2b-key", NULL },
	{ "jina_", SECRET_ALNUM, 40, 0, "jina-key", NULL },
	{ "sk_", SECRET_HEX, 48, 48, "elevenlabs-key", NULL },
	{ "fw_", SECRET_ALNUM, 20, 24, "fireworks-key", with_digit },
	/* code hosting and CI */
	{ "ghp_", SECRET_ALNUM, 36, 0, "github-token", NULL },
	{ "gho_", SECRET_ALNUM, 36, 0, "github-token", NULL },
	{ "ghu_", SECRET_ALNUM, 36, 0, "github-token", NULL },
	{ "ghs_", SECRET_ALNUM, 36, 0, "github-token", NULL },
	{ "ghr_", SECRET_ALNUM, 36, 0, "github-token", NULL },
	{ "github_pat_", SECRET_WORD, 40, 0, "github-token", NULL },
	{ "glpat-", SECRET_DOTTED, 20, 0, "gitlab-token", NULL },
	{ "glptt-", SECRET_URL, 20, 0, "gitlab-token", NULL },
	{ "glrt-", SECRET_DOTTED, 20, 0, "gitlab-token", NULL },
	{ "glrtr-", SECRET_DOTTED, 20, 0, "gitlab-token", NULL },
	{ "gldt-", SECRET_URL, 20, 0, "gitlab-token", NULL },
	{ "glft-", SECRET_URL, 20, 0, "gitlab-token", NULL },
	{ "glffct-", SECRET_URL, 20, 0, "gitlab-token", NULL },
	{ "glimt-", SECRET_URL, 20, 0, "gitlab-token", NULL },
	{ "glsoat-", SECRET_URL, 20, 0, "gitlab-token", NULL },
	{ "glagent-", SECRET_URL, 30, 0, "gitlab-token", NULL },
	{ "gloas-", SECRET_URL, 40, 0, "gitlab-token", NULL },
	{ "glcbt-", SECRET_URL, 20, 0, "gitlab-token", NULL },
	{ "glwt-", SECRET_URL, 20, 0, "gitlab-token", NULL },
	{ "GR1348941", SECRET_URL, 20, 0, "gitlab-token", NULL },
	{ "ATATT3", SECRET_BEARER, 60, 0, "atlassian-token", NULL },
	{ "ATCTT3", SECRET_BEARER, 60, 0, "atlassian-token", NULL },
	{ "ATBB", SECRET_ALNUM, 32, 32, "bitbucket-token", with_digit },
	{ "CCIPAT_", SECRET_WORD, 40, 0, "circleci-token", NULL },
	{ "CCIPRJ_", SECRET_WORD, 40, 0, "circleci-token", NULL },
	{ "bkua_", SECRET_HEX, 40, 40, "buildkite-token", NULL },
	{ "sgp_", SECRET_WORD, 40, 0, "sourcegraph-token", NULL },
	{ "sqp_", SECRET_HEX, 40, 40, "sonar-token", NULL },
	{ "squ_", SECRET_HEX, 40, 40, "sonar-token", NULL },
	{ "sqa_", SECRET_HEX, 40, 40, "sonar-token", NULL },
	{ "API-", SECRET_UPPER, 26, 26, "octopus-key", with_digit },
	{ "_gitlab_session=", SECRET_ALNUM, 32, 32, "gitlab-session", NULL },
	{ "ico-", SECRET_ALNUM, 32, 32, "infracost-key", with_digit },
	{ "pat.", SECRET_DOTTED, 60, 80, "harness-token", with_digit },
	{ "sat.", SECRET_DOTTED, 60, 80, "harness-token", with_digit },
	{ "pnu_", SECRET_ALNUM, 36, 36, "prefect-key", NULL },
	{ "PMAK-", SECRET_URL, 50, 0, "postman-key", NULL },
	/* clouds */
	{ "AKIA", SECRET_UPPER, 16, 16, "aws-key", NULL },
	{ "ASIA", SECRET_UPPER, 16, 16, "aws-key", NULL },
	{ "ABIA", SECRET_UPPER, 16, 16, "aws-key", NULL },
	{ "ACCA", SECRET_UPPER, 16, 16, "aws-key", NULL },
	{ "A3T", SECRET_UPPER, 17, 17, "aws-key", NULL },
	{ "ABSK", SECRET_BASE64, 100, 0, "aws-bedrock-key", NULL },
	{ "bedrock-api-key-", SECRET_BASE64, 30, 0, "aws-bedrock-key", NULL },
	{ "IQoJb3JpZ2lu", SECRET_BASE64, 60, 0, "aws-session-token", NULL },
	{ "FwoGZXIvYXdz", SECRET_BASE64, 60, 0, "aws-session-token", NULL },
	{ "AQoDYXdz", SECRET_BASE64, 60, 0, "aws-session-token", NULL },
	{ "AIza", SECRET_URL, 35, 35, "google-api-key", NULL },
	{ "ya29.", SECRET_DOTTED, 20, 0, "google-access-token", NULL },
	{ "1//0", SECRET_URL, 30, 0, "google-refresh-token", NULL },
	{ "GOCSPX-", SECRET_URL, 20, 0, "google-client-secret", NULL },
	{ "dop_v1_", SECRET_HEX, 64, 64, "digitalocean-token", NULL },
	{ "doo_v1_", SECRET_HEX, 64, 64, "digitalocean-token", NULL },
	{ "dor_v1_", SECRET_HEX, 64, 64, "digitalocean-token", NULL },
	{ "fo1_", SECRET_URL, 40, 0, "fly-token", NULL },
	{ "fm1r_", SECRET_BASE64, 60, 0, "fly-token", NULL },
	{ "fm1a_", SECRET_BASE64, 60, 0, "fly-token", NULL },
	{ "fm2_", SECRET_BASE64, 60, 0, "fly-token", NULL },
	{ "HRKU-", SECRET_URL, 36, 0, "heroku-key", NULL },
	{ "LTAI", SECRET_ALNUM, 12, 26, "alibaba-key", with_digit },
	{ "AKID", SECRET_ALNUM, 32, 32, "tencent-key", with_digit },
	{ "4b1d", SECRET_ALNUM, 38, 38, "clickhouse-key", NULL },
	{ "tk-us-", SECRET_URL, 48, 48, "scalingo-token", with_digit },
	{ "v1.0-", SECRET_URL, 160, 0, "cloudflare-origin-key", NULL },
	{ "nfp_", SECRET_ALNUM, 36, 0, "netlify-token", NULL },
	{ "rnd_", SECRET_ALNUM, 24, 0, "render-key", with_digit },
	{ "vcp_", SECRET_ALNUM, 24, 0, "vercel-token", with_digit },
	{ "tskey-", SECRET_URL, 20, 0, "tailscale-key", with_digit },
	{ "dapi", SECRET_HEX, 32, 32, "databricks-token", NULL },
	{ "pscale_tkn_", SECRET_DOTTED, 32, 0, "planetscale-token", NULL },
	{ "pscale_pw_", SECRET_DOTTED, 32, 0, "planetscale-token", NULL },
	{ "pscale_oauth_", SECRET_DOTTED, 32, 0, "planetscale-token", NULL },
	{ "sbp_", SECRET_HEX, 40, 40, "supabase-token", NULL },
	{ "sb_secret_", SECRET_URL, 20, 0, "supabase-token", NULL },
	{ "napi_", SECRET_ALNUM, 40, 0, "neon-key", NULL },
	{ "sha256~", SECRET_URL, 43, 43, "openshift-token", NULL },
	/* secret stores, observability */
	{ "hvs.", SECRET_URL, 24, 0, "vault-token", NULL },
	{ "hvb.", SECRET_URL, 24, 0, "vault-token", NULL },
	{ "hvr.", SECRET_URL, 24, 0, "vault-token", NULL },
	{ "s.", SECRET_ALNUM, 24, 24, "vault-token", with_digit },
	{ "dp.pt.", SECRET_DOTTED, 40, 0, "doppler-token", NULL },
	{ "dp.st.", SECRET_DOTTED, 40, 0, "doppler-token", NULL },
	{ "dp.ct.", SECRET_DOTTED, 40, 0, "doppler-token", NULL },
	{ "dp.sa.", SECRET_DOTTED, 40, 0, "doppler-token", NULL },
	{ "dp.scim.", SECRET_DOTTED, 40, 0, "doppler-token", NULL },
	{ "dp.audit.", SECRET_DOTTED, 40, 0, "doppler-token", NULL },
	{ "ops_ey", SECRET_BEARER, 100, 0, "1password-token", NULL },
	{ "A3-", SECRET_URL, 35, 37, "1password-secret-key", with_digit },
	{ "st.", SECRET_DOTTED, 90, 0, "infisical-token", NULL },
	{ "AGE-SECRET-KEY-1", SECRET_ALNUM, 58, 58, "age-key", NULL },
	{ "pul-", SECRET_HEX, 40, 40, "pulumi-token", NULL },
	{ "sntrys_", SECRET_BEARER, 40, 0, "sentry-token", NULL },
	{ "sntryu_", SECRET_HEX, 64, 64, "sentry-token", NULL },
	{ "eyJrIjoi", SECRET_BASE64, 70, 0, "grafana-key", NULL },
	{ "glsa_", SECRET_WORD, 40, 0, "grafana-token", NULL },
	{ "glc_", SECRET_BEARER, 32, 0, "grafana-token", with_digit },
	{ "hcaik_", SECRET_ALNUM, 50, 0, "honeycomb-key", NULL },
	{ "hcxik_", SECRET_ALNUM, 50, 0, "honeycomb-key", NULL },
	{ "NRAK-", SECRET_UPPER, 27, 27, "newrelic-key", NULL },
	{ "NRJS-", SECRET_HEX, 19, 19, "newrelic-key", NULL },
	{ "NRII-", SECRET_URL, 32, 0, "newrelic-key", NULL },
	{ "dt0c01.", SECRET_DOTTED, 80, 0, "dynatrace-token", NULL },
	{ "dt0s01.", SECRET_DOTTED, 70, 0, "dynatrace-token", NULL },
	/* package registries */
	{ "npm_", SECRET_ALNUM, 36, 36, "npm-token", NULL },
	{ "pypi-AgE", SECRET_URL, 50, 0, "pypi-token", NULL },
	{ "cio", SECRET_ALNUM, 32, 32, "crates-token", with_digit },
	{ "rubygems_", SECRET_HEX, 48, 48, "rubygems-key", NULL },
	{ "oy2", SECRET_ALNUM, 43, 43, "nuget-key", with_digit },
	{ "dckr_pat_", SECRET_URL, 20, 0, "docker-token", NULL },
	{ "dckr_oat_", SECRET_URL, 20, 0, "docker-token", NULL },
	{ "CLOJARS_", SECRET_ALNUM, 60, 60, "clojars-token", NULL },
	{ "AKCp", SECRET_ALNUM, 60, 0, "artifactory-key", NULL },
	{ "cmVmd", SECRET_ALNUM, 59, 59, "artifactory-token", NULL },
	/* messaging and mail */
	{ "xoxb-", SECRET_URL, 10, 0, "slack-token", with_digit },
	{ "xoxp-", SECRET_URL, 10, 0, "slack-token", with_digit },
	{ "xoxa-", SECRET_URL, 10, 0, "slack-token", with_digit },
	{ "xoxr-", SECRET_URL, 10, 0, "slack-token", with_digit },
	{ "xoxs-", SECRET_URL, 10, 0, "slack-token", with_digit },
	{ "xoxo-", SECRET_URL, 10, 0, "slack-token", with_digit },
	{ "xoxc-", SECRET_URL, 10, 0, "slack-token", with_digit },
	{ "xoxd-", SECRET_URL, 10, 0, "slack-token", with_digit },
	{ "xoxe-", SECRET_URL, 10, 0, "slack-token", with_digit },
	{ "xoxe.", SECRET_DOTTED, 10, 0, "slack-token", with_digit },
	{ "xapp-", SECRET_URL, 10, 0, "slack-token", with_digit },
	{ "hooks.slack.com/", SECRET_ANY, 20, 0, "webhook-url", NULL },
	{ "discord.com/api/webhooks/", SECRET_ANY, 20, 0, "webhook-url", NULL },
	{ "discordapp.com/api/webhooks/", SECRET_ANY, 20, 0, "webhook-url", NULL },
	{ "webhook.office.com/webhookb2/", SECRET_ANY, 20, 0, "webhook-url", NULL },
	{ "outlook.office.com/webhook/", SECRET_ANY, 20, 0, "webhook-url", NULL },
	{ "hooks.zapier.com/hooks/", SECRET_ANY, 10, 0, "webhook-url", NULL },
	{ "M", SECRET_DOTTED, 57, 80, "discord-token", is_discord },
	{ "N", SECRET_DOTTED, 57, 80, "discord-token", is_discord },
	{ "O", SECRET_DOTTED, 57, 80, "discord-token", is_discord },
	{ "SG.", SECRET_DOTTED, 60, 70, "sendgrid-key", with_digit },
	{ "key-", SECRET_HEX, 32, 32, "mailgun-key", NULL },
	{ "xkeysib-", SECRET_URL, 64, 0, "brevo-key", NULL },
	{ "xsmtpsib-", SECRET_URL, 64, 0, "brevo-key", NULL },
	{ "SK", SECRET_HEX, 32, 32, "twilio-key", NULL },
	{ "syt_", SECRET_WORD, 30, 0, "matrix-token", NULL },
	/* payment and business */
	{ "sk_live_", SECRET_ALNUM, 10, 0, "stripe-key", NULL },
	{ "sk_test_", SECRET_ALNUM, 10, 0, "stripe-key", NULL },
	{ "sk_prod_", SECRET_ALNUM, 10, 0, "stripe-key", NULL },
	{ "rk_live_", SECRET_ALNUM, 10, 0, "stripe-key", NULL },
	{ "rk_test_", SECRET_ALNUM, 10, 0, "stripe-key", NULL },
	{ "rk_prod_", SECRET_ALNUM, 10, 0, "stripe-key", NULL },
	{ "whsec_", SECRET_BASE64, 20, 0, "webhook-secret", NULL },
	{ "sq0atp-", SECRET_URL, 22, 0, "square-token", NULL },
	{ "sq0csp-", SECRET_URL, 40, 0, "square-token", NULL },
	{ "EAAA", SECRET_URL, 58, 0, "square-token", with_digit },
	{ "EAA", SECRET_ALNUM, 80, 0, "meta-token", with_digit },
	{ "shpat_", SECRET_HEX, 32, 32, "shopify-token", NULL },
	{ "shpss_", SECRET_HEX, 32, 32, "shopify-token", NULL },
	{ "shpca_", SECRET_HEX, 32, 32, "shopify-token", NULL },
	{ "shppa_", SECRET_HEX, 32, 32, "shopify-token", NULL },
	{ "access-sandbox-", SECRET_URL, 36, 36, "plaid-token", NULL },
	{ "access-development-", SECRET_URL, 36, 36, "plaid-token", NULL },
	{ "access-production-", SECRET_URL, 36, 36, "plaid-token", NULL },
	{ "lin_api_", SECRET_ALNUM, 32, 0, "linear-key", NULL },
	{ "lin_oauth_", SECRET_ALNUM, 32, 0, "linear-key", NULL },
	{ "ntn_", SECRET_ALNUM, 40, 0, "notion-token", NULL },
	{ "secret_", SECRET_ALNUM, 43, 43, "notion-token", NULL },
	{ "pat", SECRET_DOTTED, 79, 79, "airtable-token", with_digit },
	{ "pat-na1-", SECRET_URL, 36, 36, "hubspot-token", NULL },
	{ "pat-eu1-", SECRET_URL, 36, 36, "hubspot-token", NULL },
	{ "figd_", SECRET_URL, 38, 0, "figma-token", NULL },
	{ "CFPAT-", SECRET_URL, 43, 0, "contentful-token", NULL },
	{ "sk.eyJ", SECRET_DOTTED, 40, 0, "mapbox-token", NULL },
	{ "tfp_", SECRET_URL, 50, 0, "typeform-token", NULL },
	{ "rdme_", SECRET_ALNUM, 70, 0, "readme-key", NULL },
	{ "FLWSECK-", SECRET_URL, 32, 0, "flutterwave-key", NULL },
	{ "FLWSECK_TEST-", SECRET_URL, 12, 0, "flutterwave-key", NULL },
	{ "duffel_live_", SECRET_URL, 40, 0, "duffel-token", NULL },
	{ "duffel_test_", SECRET_URL, 40, 0, "duffel-token", NULL },
	{ "EZAK", SECRET_ALNUM, 54, 54, "easypost-key", NULL },
	{ "EZTK", SECRET_ALNUM, 54, 54, "easypost-key", NULL },
	{ "shippo_live_", SECRET_HEX, 40, 40, "shippo-token", NULL },
	{ "shippo_test_", SECRET_HEX, 40, 40, "shippo-token", NULL },
	{ "p8e-", SECRET_ALNUM, 32, 32, "adobe-secret", NULL },
	{ "sm_aat_", SECRET_ALNUM, 16, 16, "settlemint-token", NULL },
	{ "sm_pat_", SECRET_ALNUM, 16, 16, "settlemint-token", NULL },
	{ "sm_sat_", SECRET_ALNUM, 16, 16, "settlemint-token", NULL },
	{ "s-s4t2ud-", SECRET_HEX, 64, 64, "intra42-secret", NULL },
	{ "s-s4t2af-", SECRET_HEX, 64, 64, "intra42-secret", NULL },
	{ "fio-u-", SECRET_URL, 60, 0, "frameio-token", NULL },
	/* formats that many use */
	{ "eyJ", SECRET_DOTTED, 30, 0, "json-web-token", is_jwt },
	{ "Basic ", SECRET_BASE64, 8, 0, "http-basic", is_basic },
	{ "basic ", SECRET_BASE64, 8, 0, "http-basic", is_basic },
	{ "Basic%20", SECRET_BASE64, 8, 0, "http-basic", is_basic },
	{ "basic%20", SECRET_BASE64, 8, 0, "http-basic", is_basic },
	{ "Bearer ", SECRET_BEARER, 20, 0, "http-bearer", with_digit },
	{ "bearer ", SECRET_BEARER, 20, 0, "http-bearer", with_digit },
	{ "Bearer%20", SECRET_BEARER, 20, 0, "http-bearer", with_digit },
	{ "bearer%20", SECRET_BEARER, 20, 0, "http-bearer", with_digit },
	{ "PuTTY-User-Key-File-", SECRET_ANY, 1, 0, "private-key", NULL },
	{ "MI", SECRET_BASE64, 60, 0, "private-key", is_der_key },
	{ "MHcCAQEE", SECRET_BASE64, 40, 0, "private-key", NULL }, /* elliptic curve, 256 bits */
	{ "MC4CAQAw", SECRET_BASE64, 40, 0, "private-key", NULL }, /* ed25519 */
};
/* clang-format on */

const size_t secret_tokens_count = ELEMENTSOF(secret_tokens);
_Static_assert(ELEMENTSOF(secret_tokens) <= SECRET_TOKENS_MAX, "struct secret_index counts in bytes");
