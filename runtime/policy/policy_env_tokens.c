/*
 * Secrets that are known by how they begin: one row for each published format. A row asks
 * for as much as the format promises (alphabet, length), so that words, locale names and
 * hashes do not match; the prefix must stand at the begin of a word.
 */
#include <string.h>

#include "policy/policy_env_internal.h"
#include "util/cleanup.h"

static bool with_digit(struct env_text run)
{
	return env_has_digit(run);
}

/* HTTP Basic: base64 of "user:password". */
static bool is_basic(struct env_text run)
{
	char text[96];
	size_t i, n = env_base64(run, text, sizeof(text));

	for (i = 0; i < n; i++)
		if (text[i] < ' ' || text[i] == 0x7f)
			return false;
	return n && memchr(text, ':', n);
}

/* header.payload.signature, both first JSON; or the five parts of an encrypted one. */
static bool is_jwt(struct env_text run)
{
	size_t i, dots = 0, second = 0;

	for (i = 0; i < run.len; i++)
		if (run.s[i] == '.' && ++dots == 1)
			second = i + 1;
	if (second < 10)
		return false;
	return dots == 4 ||
	       (dots >= 2 && run.len - second > 10 && env_begins(env_from(run, second), "ey"));
}

/* Discord: user id, time stamp and signature in base64, dots between them. */
static bool is_discord(struct env_text run)
{
	size_t first = env_run(ENV_URL, run);
	size_t second = env_run(ENV_URL, env_from(run, first + 1));
	size_t third = env_run(ENV_URL, env_from(run, first + second + 2));

	return first >= 22 && first <= 27 && second == 6 && third >= 27 &&
	       first + second + third + 2 == run.len;
}

/*
 * A private key in DER begins with SEQUENCE { INTEGER 0 or 1: the version; certificates
 * and public keys begin with SEQUENCE { SEQUENCE. The "MI" of the prefix is part of it.
 */
static bool is_der_key(struct env_text run)
{
	char text[16] = { 'M', 'I' }, der[9] = { 0 };
	size_t skip;

	if (run.len < 12)
		return false;
	memcpy(text + 2, run.s, 12);
	if (env_base64((struct env_text){ text, 12 }, der, sizeof(der)) < 9)
		return false;
	skip = der[1] == (char)0x82 ? 4 : der[1] == (char)0x81 ? 3 : 2;
	return der[0] == 0x30 && der[skip] == 2 && der[skip + 1] == 1 &&
	       (der[skip + 2] == 0 || der[skip + 2] == 1);
}

/* clang-format off */
const struct env_token env_tokens[] = {
	/* model providers */
	{ "sk-ant-", ENV_URL, 20, 0, "anthropic-key", NULL },
	{ "sk-proj-", ENV_URL, 20, 0, "openai-key", with_digit },
	{ "sk-svcacct-", ENV_URL, 20, 0, "openai-key", with_digit },
	{ "sk-admin-", ENV_URL, 20, 0, "openai-key", with_digit },
	{ "sk-None-", ENV_URL, 20, 0, "openai-key", with_digit },
	{ "sk-or-v1-", ENV_HEX, 40, 0, "openrouter-key", NULL },
	{ "sk-lf-", ENV_URL, 30, 0, "langfuse-key", NULL },
	{ "sk-", ENV_ALNUM, 32, 0, "openai-style-key", with_digit },
	{ "csk-", ENV_ALNUM, 40, 0, "cerebras-key", NULL },
	{ "gsk_", ENV_ALNUM, 40, 0, "groq-key", NULL },
	{ "xai-", ENV_ALNUM, 40, 0, "xai-key", NULL },
	{ "pplx-", ENV_ALNUM, 40, 0, "perplexity-key", NULL },
	{ "nvapi-", ENV_URL, 40, 0, "nvidia-key", NULL },
	{ "r8_", ENV_ALNUM, 37, 0, "replicate-token", NULL },
	{ "hf_", ENV_ALNUM, 34, 34, "huggingface-token", NULL },
	{ "api_org_", ENV_ALNUM, 34, 34, "huggingface-token", NULL },
	{ "lsv2_", ENV_WORD, 40, 0, "langsmith-key", NULL },
	{ "tvly-", ENV_URL, 20, 0, "tavily-key", with_digit },
	{ "pcsk_", ENV_WORD, 40, 0, "pinecone-key", NULL },
	{ "fc-", ENV_HEX, 32, 32, "firecrawl-key", NULL },
	{ "e2b_", ENV_HEX, 40, 40, "e2b-key", NULL },
	{ "jina_", ENV_ALNUM, 40, 0, "jina-key", NULL },
	{ "sk_", ENV_HEX, 48, 48, "elevenlabs-key", NULL },
	{ "fw_", ENV_ALNUM, 20, 24, "fireworks-key", with_digit },
	/* code hosting and CI */
	{ "ghp_", ENV_ALNUM, 36, 0, "github-token", NULL },
	{ "gho_", ENV_ALNUM, 36, 0, "github-token", NULL },
	{ "ghu_", ENV_ALNUM, 36, 0, "github-token", NULL },
	{ "ghs_", ENV_ALNUM, 36, 0, "github-token", NULL },
	{ "ghr_", ENV_ALNUM, 36, 0, "github-token", NULL },
	{ "github_pat_", ENV_WORD, 40, 0, "github-token", NULL },
	{ "glpat-", ENV_DOTTED, 20, 0, "gitlab-token", NULL },
	{ "glptt-", ENV_URL, 20, 0, "gitlab-token", NULL },
	{ "glrt-", ENV_DOTTED, 20, 0, "gitlab-token", NULL },
	{ "glrtr-", ENV_DOTTED, 20, 0, "gitlab-token", NULL },
	{ "gldt-", ENV_URL, 20, 0, "gitlab-token", NULL },
	{ "glft-", ENV_URL, 20, 0, "gitlab-token", NULL },
	{ "glffct-", ENV_URL, 20, 0, "gitlab-token", NULL },
	{ "glimt-", ENV_URL, 20, 0, "gitlab-token", NULL },
	{ "glsoat-", ENV_URL, 20, 0, "gitlab-token", NULL },
	{ "glagent-", ENV_URL, 30, 0, "gitlab-token", NULL },
	{ "gloas-", ENV_URL, 40, 0, "gitlab-token", NULL },
	{ "glcbt-", ENV_URL, 20, 0, "gitlab-token", NULL },
	{ "glwt-", ENV_URL, 20, 0, "gitlab-token", NULL },
	{ "GR1348941", ENV_URL, 20, 0, "gitlab-token", NULL },
	{ "ATATT3", ENV_BEARER, 60, 0, "atlassian-token", NULL },
	{ "ATCTT3", ENV_BEARER, 60, 0, "atlassian-token", NULL },
	{ "ATBB", ENV_ALNUM, 32, 32, "bitbucket-token", with_digit },
	{ "CCIPAT_", ENV_WORD, 40, 0, "circleci-token", NULL },
	{ "CCIPRJ_", ENV_WORD, 40, 0, "circleci-token", NULL },
	{ "bkua_", ENV_HEX, 40, 40, "buildkite-token", NULL },
	{ "sgp_", ENV_WORD, 40, 0, "sourcegraph-token", NULL },
	{ "sqp_", ENV_HEX, 40, 40, "sonar-token", NULL },
	{ "squ_", ENV_HEX, 40, 40, "sonar-token", NULL },
	{ "sqa_", ENV_HEX, 40, 40, "sonar-token", NULL },
	{ "API-", ENV_UPPER, 26, 26, "octopus-key", with_digit },
	{ "_gitlab_session=", ENV_ALNUM, 32, 32, "gitlab-session", NULL },
	{ "ico-", ENV_ALNUM, 32, 32, "infracost-key", with_digit },
	{ "pat.", ENV_DOTTED, 60, 80, "harness-token", with_digit },
	{ "sat.", ENV_DOTTED, 60, 80, "harness-token", with_digit },
	{ "pnu_", ENV_ALNUM, 36, 36, "prefect-key", NULL },
	{ "PMAK-", ENV_URL, 50, 0, "postman-key", NULL },
	/* clouds */
	{ "AKIA", ENV_UPPER, 16, 16, "aws-key", NULL },
	{ "ASIA", ENV_UPPER, 16, 16, "aws-key", NULL },
	{ "ABIA", ENV_UPPER, 16, 16, "aws-key", NULL },
	{ "ACCA", ENV_UPPER, 16, 16, "aws-key", NULL },
	{ "A3T", ENV_UPPER, 17, 17, "aws-key", NULL },
	{ "ABSK", ENV_BASE64, 100, 0, "aws-bedrock-key", NULL },
	{ "bedrock-api-key-", ENV_BASE64, 30, 0, "aws-bedrock-key", NULL },
	{ "IQoJb3JpZ2lu", ENV_BASE64, 60, 0, "aws-session-token", NULL },
	{ "FwoGZXIvYXdz", ENV_BASE64, 60, 0, "aws-session-token", NULL },
	{ "AQoDYXdz", ENV_BASE64, 60, 0, "aws-session-token", NULL },
	{ "AIza", ENV_URL, 35, 35, "google-api-key", NULL },
	{ "ya29.", ENV_DOTTED, 20, 0, "google-access-token", NULL },
	{ "1//0", ENV_URL, 30, 0, "google-refresh-token", NULL },
	{ "GOCSPX-", ENV_URL, 20, 0, "google-client-secret", NULL },
	{ "dop_v1_", ENV_HEX, 64, 64, "digitalocean-token", NULL },
	{ "doo_v1_", ENV_HEX, 64, 64, "digitalocean-token", NULL },
	{ "dor_v1_", ENV_HEX, 64, 64, "digitalocean-token", NULL },
	{ "fo1_", ENV_URL, 40, 0, "fly-token", NULL },
	{ "fm1r_", ENV_BASE64, 60, 0, "fly-token", NULL },
	{ "fm1a_", ENV_BASE64, 60, 0, "fly-token", NULL },
	{ "fm2_", ENV_BASE64, 60, 0, "fly-token", NULL },
	{ "HRKU-", ENV_URL, 36, 0, "heroku-key", NULL },
	{ "LTAI", ENV_ALNUM, 12, 26, "alibaba-key", with_digit },
	{ "AKID", ENV_ALNUM, 32, 32, "tencent-key", with_digit },
	{ "4b1d", ENV_ALNUM, 38, 38, "clickhouse-key", NULL },
	{ "tk-us-", ENV_URL, 48, 48, "scalingo-token", with_digit },
	{ "v1.0-", ENV_URL, 160, 0, "cloudflare-origin-key", NULL },
	{ "nfp_", ENV_ALNUM, 36, 0, "netlify-token", NULL },
	{ "rnd_", ENV_ALNUM, 24, 0, "render-key", with_digit },
	{ "vcp_", ENV_ALNUM, 24, 0, "vercel-token", with_digit },
	{ "tskey-", ENV_URL, 20, 0, "tailscale-key", with_digit },
	{ "dapi", ENV_HEX, 32, 32, "databricks-token", NULL },
	{ "pscale_tkn_", ENV_DOTTED, 32, 0, "planetscale-token", NULL },
	{ "pscale_pw_", ENV_DOTTED, 32, 0, "planetscale-token", NULL },
	{ "pscale_oauth_", ENV_DOTTED, 32, 0, "planetscale-token", NULL },
	{ "sbp_", ENV_HEX, 40, 40, "supabase-token", NULL },
	{ "sb_secret_", ENV_URL, 20, 0, "supabase-token", NULL },
	{ "napi_", ENV_ALNUM, 40, 0, "neon-key", NULL },
	{ "sha256~", ENV_URL, 43, 43, "openshift-token", NULL },
	/* secret stores, observability */
	{ "hvs.", ENV_URL, 24, 0, "vault-token", NULL },
	{ "hvb.", ENV_URL, 24, 0, "vault-token", NULL },
	{ "hvr.", ENV_URL, 24, 0, "vault-token", NULL },
	{ "s.", ENV_ALNUM, 24, 24, "vault-token", with_digit },
	{ "dp.pt.", ENV_DOTTED, 40, 0, "doppler-token", NULL },
	{ "dp.st.", ENV_DOTTED, 40, 0, "doppler-token", NULL },
	{ "dp.ct.", ENV_DOTTED, 40, 0, "doppler-token", NULL },
	{ "dp.sa.", ENV_DOTTED, 40, 0, "doppler-token", NULL },
	{ "dp.scim.", ENV_DOTTED, 40, 0, "doppler-token", NULL },
	{ "dp.audit.", ENV_DOTTED, 40, 0, "doppler-token", NULL },
	{ "ops_ey", ENV_BEARER, 100, 0, "1password-token", NULL },
	{ "A3-", ENV_URL, 35, 37, "1password-secret-key", with_digit },
	{ "st.", ENV_DOTTED, 90, 0, "infisical-token", NULL },
	{ "AGE-SECRET-KEY-1", ENV_ALNUM, 58, 58, "age-key", NULL },
	{ "pul-", ENV_HEX, 40, 40, "pulumi-token", NULL },
	{ "sntrys_", ENV_BEARER, 40, 0, "sentry-token", NULL },
	{ "sntryu_", ENV_HEX, 64, 64, "sentry-token", NULL },
	{ "eyJrIjoi", ENV_BASE64, 70, 0, "grafana-key", NULL },
	{ "glsa_", ENV_WORD, 40, 0, "grafana-token", NULL },
	{ "glc_", ENV_BEARER, 32, 0, "grafana-token", with_digit },
	{ "hcaik_", ENV_ALNUM, 50, 0, "honeycomb-key", NULL },
	{ "hcxik_", ENV_ALNUM, 50, 0, "honeycomb-key", NULL },
	{ "NRAK-", ENV_UPPER, 27, 27, "newrelic-key", NULL },
	{ "NRJS-", ENV_HEX, 19, 19, "newrelic-key", NULL },
	{ "NRII-", ENV_URL, 32, 0, "newrelic-key", NULL },
	{ "dt0c01.", ENV_DOTTED, 80, 0, "dynatrace-token", NULL },
	{ "dt0s01.", ENV_DOTTED, 70, 0, "dynatrace-token", NULL },
	/* package registries */
	{ "npm_", ENV_ALNUM, 36, 36, "npm-token", NULL },
	{ "pypi-AgE", ENV_URL, 50, 0, "pypi-token", NULL },
	{ "cio", ENV_ALNUM, 32, 32, "crates-token", with_digit },
	{ "rubygems_", ENV_HEX, 48, 48, "rubygems-key", NULL },
	{ "oy2", ENV_ALNUM, 43, 43, "nuget-key", with_digit },
	{ "dckr_pat_", ENV_URL, 20, 0, "docker-token", NULL },
	{ "dckr_oat_", ENV_URL, 20, 0, "docker-token", NULL },
	{ "CLOJARS_", ENV_ALNUM, 60, 60, "clojars-token", NULL },
	{ "AKCp", ENV_ALNUM, 60, 0, "artifactory-key", NULL },
	{ "cmVmd", ENV_ALNUM, 59, 59, "artifactory-token", NULL },
	/* messaging and mail */
	{ "xoxb-", ENV_URL, 10, 0, "slack-token", with_digit },
	{ "xoxp-", ENV_URL, 10, 0, "slack-token", with_digit },
	{ "xoxa-", ENV_URL, 10, 0, "slack-token", with_digit },
	{ "xoxr-", ENV_URL, 10, 0, "slack-token", with_digit },
	{ "xoxs-", ENV_URL, 10, 0, "slack-token", with_digit },
	{ "xoxo-", ENV_URL, 10, 0, "slack-token", with_digit },
	{ "xoxc-", ENV_URL, 10, 0, "slack-token", with_digit },
	{ "xoxd-", ENV_URL, 10, 0, "slack-token", with_digit },
	{ "xoxe-", ENV_URL, 10, 0, "slack-token", with_digit },
	{ "xoxe.", ENV_DOTTED, 10, 0, "slack-token", with_digit },
	{ "xapp-", ENV_URL, 10, 0, "slack-token", with_digit },
	{ "hooks.slack.com/", ENV_ANY, 20, 0, "webhook-url", NULL },
	{ "discord.com/api/webhooks/", ENV_ANY, 20, 0, "webhook-url", NULL },
	{ "discordapp.com/api/webhooks/", ENV_ANY, 20, 0, "webhook-url", NULL },
	{ "webhook.office.com/webhookb2/", ENV_ANY, 20, 0, "webhook-url", NULL },
	{ "outlook.office.com/webhook/", ENV_ANY, 20, 0, "webhook-url", NULL },
	{ "hooks.zapier.com/hooks/", ENV_ANY, 10, 0, "webhook-url", NULL },
	{ "M", ENV_DOTTED, 57, 80, "discord-token", is_discord },
	{ "N", ENV_DOTTED, 57, 80, "discord-token", is_discord },
	{ "O", ENV_DOTTED, 57, 80, "discord-token", is_discord },
	{ "SG.", ENV_DOTTED, 60, 70, "sendgrid-key", with_digit },
	{ "key-", ENV_HEX, 32, 32, "mailgun-key", NULL },
	{ "xkeysib-", ENV_URL, 64, 0, "brevo-key", NULL },
	{ "xsmtpsib-", ENV_URL, 64, 0, "brevo-key", NULL },
	{ "SK", ENV_HEX, 32, 32, "twilio-key", NULL },
	{ "syt_", ENV_WORD, 30, 0, "matrix-token", NULL },
	/* payment and business */
	{ "sk_live_", ENV_ALNUM, 10, 0, "stripe-key", NULL },
	{ "sk_test_", ENV_ALNUM, 10, 0, "stripe-key", NULL },
	{ "sk_prod_", ENV_ALNUM, 10, 0, "stripe-key", NULL },
	{ "rk_live_", ENV_ALNUM, 10, 0, "stripe-key", NULL },
	{ "rk_test_", ENV_ALNUM, 10, 0, "stripe-key", NULL },
	{ "rk_prod_", ENV_ALNUM, 10, 0, "stripe-key", NULL },
	{ "whsec_", ENV_BASE64, 20, 0, "webhook-secret", NULL },
	{ "sq0atp-", ENV_URL, 22, 0, "square-token", NULL },
	{ "sq0csp-", ENV_URL, 40, 0, "square-token", NULL },
	{ "EAAA", ENV_URL, 58, 0, "square-token", with_digit },
	{ "EAA", ENV_ALNUM, 80, 0, "meta-token", with_digit },
	{ "shpat_", ENV_HEX, 32, 32, "shopify-token", NULL },
	{ "shpss_", ENV_HEX, 32, 32, "shopify-token", NULL },
	{ "shpca_", ENV_HEX, 32, 32, "shopify-token", NULL },
	{ "shppa_", ENV_HEX, 32, 32, "shopify-token", NULL },
	{ "access-sandbox-", ENV_URL, 36, 36, "plaid-token", NULL },
	{ "access-development-", ENV_URL, 36, 36, "plaid-token", NULL },
	{ "access-production-", ENV_URL, 36, 36, "plaid-token", NULL },
	{ "lin_api_", ENV_ALNUM, 32, 0, "linear-key", NULL },
	{ "lin_oauth_", ENV_ALNUM, 32, 0, "linear-key", NULL },
	{ "ntn_", ENV_ALNUM, 40, 0, "notion-token", NULL },
	{ "secret_", ENV_ALNUM, 43, 43, "notion-token", NULL },
	{ "pat", ENV_DOTTED, 79, 79, "airtable-token", with_digit },
	{ "pat-na1-", ENV_URL, 36, 36, "hubspot-token", NULL },
	{ "pat-eu1-", ENV_URL, 36, 36, "hubspot-token", NULL },
	{ "figd_", ENV_URL, 38, 0, "figma-token", NULL },
	{ "CFPAT-", ENV_URL, 43, 0, "contentful-token", NULL },
	{ "sk.eyJ", ENV_DOTTED, 40, 0, "mapbox-token", NULL },
	{ "tfp_", ENV_URL, 50, 0, "typeform-token", NULL },
	{ "rdme_", ENV_ALNUM, 70, 0, "readme-key", NULL },
	{ "FLWSECK-", ENV_URL, 32, 0, "flutterwave-key", NULL },
	{ "FLWSECK_TEST-", ENV_URL, 12, 0, "flutterwave-key", NULL },
	{ "duffel_live_", ENV_URL, 40, 0, "duffel-token", NULL },
	{ "duffel_test_", ENV_URL, 40, 0, "duffel-token", NULL },
	{ "EZAK", ENV_ALNUM, 54, 54, "easypost-key", NULL },
	{ "EZTK", ENV_ALNUM, 54, 54, "easypost-key", NULL },
	{ "shippo_live_", ENV_HEX, 40, 40, "shippo-token", NULL },
	{ "shippo_test_", ENV_HEX, 40, 40, "shippo-token", NULL },
	{ "p8e-", ENV_ALNUM, 32, 32, "adobe-secret", NULL },
	{ "sm_aat_", ENV_ALNUM, 16, 16, "settlemint-token", NULL },
	{ "sm_pat_", ENV_ALNUM, 16, 16, "settlemint-token", NULL },
	{ "sm_sat_", ENV_ALNUM, 16, 16, "settlemint-token", NULL },
	{ "s-s4t2ud-", ENV_HEX, 64, 64, "intra42-secret", NULL },
	{ "s-s4t2af-", ENV_HEX, 64, 64, "intra42-secret", NULL },
	{ "fio-u-", ENV_URL, 60, 0, "frameio-token", NULL },
	/* formats that many use */
	{ "eyJ", ENV_DOTTED, 30, 0, "json-web-token", is_jwt },
	{ "Basic ", ENV_BASE64, 8, 0, "http-basic", is_basic },
	{ "basic ", ENV_BASE64, 8, 0, "http-basic", is_basic },
	{ "Basic%20", ENV_BASE64, 8, 0, "http-basic", is_basic },
	{ "basic%20", ENV_BASE64, 8, 0, "http-basic", is_basic },
	{ "Bearer ", ENV_BEARER, 20, 0, "http-bearer", with_digit },
	{ "bearer ", ENV_BEARER, 20, 0, "http-bearer", with_digit },
	{ "Bearer%20", ENV_BEARER, 20, 0, "http-bearer", with_digit },
	{ "bearer%20", ENV_BEARER, 20, 0, "http-bearer", with_digit },
	{ "PuTTY-User-Key-File-", ENV_ANY, 1, 0, "private-key", NULL },
	{ "MI", ENV_BASE64, 60, 0, "private-key", is_der_key },
	{ "MHcCAQEE", ENV_BASE64, 40, 0, "private-key", NULL }, /* elliptic curve, 256 bits */
	{ "MC4CAQAw", ENV_BASE64, 40, 0, "private-key", NULL }, /* ed25519 */
};
/* clang-format on */

const size_t env_tokens_count = ELEMENTSOF(env_tokens);
_Static_assert(ELEMENTSOF(env_tokens) <= ENV_TOKENS_MAX, "struct env_index counts in bytes");
