"""Patterns of provider keys.

Each pattern is a prefix and a length, as issuers and secret scanners publish them: GitHub's token formats, the rule tables of
gitleaks and detect-secrets.
"""

from __future__ import annotations

from collections.abc import Mapping

_GITLAB = ("pat", "dt", "rt", "cbt", "ptt", "ft", "imt", "agent", "soat", "ffct")

# kind → (lower-case hints without spaces, one of which a matching text must hold; the pattern)
KEYS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "anthropic-key": (("sk-ant-",), r"sk-ant-[\w-]{20,}"),
    "openrouter-key": (("sk-or-",), r"sk-or-[\w-]{20,}"),
    "openai-key": (("sk-",), r"sk-(?:[0-9a-f]{32,64}(?![\w-])|(?=[\w-]{0,200}\d)(?=[\w-]{0,200}[A-Z])(?:proj-|svcacct-|admin-|None-)?[\w-]{20,})"),
    "github-token": (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{30,255}"),
    "github-pat": (("github_pat_",), r"github_pat_\w{50,}"),
    "gitlab-token": (tuple(f"gl{what}-" for what in _GITLAB), rf"gl(?:{'|'.join(_GITLAB)})-[\w.-]{{20,}}"),
    "aws-access-key": (("akia", "asia", "abia", "acca"), r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"),
    "google-key": (("aiza",), r"AIza[\w-]{35}"),
    "google-oauth": (("gocspx-", "ya29."), r"(?:GOCSPX-[\w-]{20,}|ya29\.[\w.-]{20,})"),
    "slack-token": (("xox", "xapp-"), r"(?:xox[abeoprs]|xapp)-(?:\w{1,16}-)*[\w-]{10,}"),
    "slack-webhook": (("hooks.slack.com/",), r"(?<=hooks\.slack\.com/services/)T\w+/B\w+/\w{16,}"),
    "discord-webhook": (("/api/webhooks/",), r"(?<=/api/webhooks/)\d{15,}/[\w-]{40,}"),
    "discord-token": (("m", "n", "o"), r"[MNO](?<![A-Za-z0-9_].)[A-Za-z\d]{23,27}\.[\w-]{6}\.[\w-]{27,}"),
    "telegram-token": ((":aa",), r"\d{8,10}:AA[\w-]{32,34}"),
    "stripe-key": (("sk_", "rk_", "pk_live", "whsec_"), r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})"),
    "npm-token": (("npm_",), r"npm_[A-Za-z0-9]{36}"),
    "pypi-token": (("pypi-",), r"pypi-(?:AgEI|AgEN)[\w-]{50,}"),
    "huggingface-token": (("hf_",), r"hf_[A-Za-z0-9]{30,}"),
    "replicate-token": (("r8_",), r"r8_[A-Za-z0-9]{37}"),
    "groq-key": (("gsk_",), r"gsk_[A-Za-z0-9]{40,}"),
    "xai-key": (("xai-",), r"xai-[A-Za-z0-9]{60,}"),
    "nvidia-key": (("nvapi-",), r"nvapi-[\w-]{60,}"),
    "meta-token": (("eaa",), r"EAA(?<![/+]...)[A-Za-z0-9]{90,}"),
    "perplexity-key": (("pplx-",), r"pplx-[A-Za-z0-9]{40,}"),
    "sendgrid-key": (("sg.",), r"SG\.[\w-]{22}\.[\w-]{43}"),
    "twilio-key": (("sk",), r"SK[0-9a-f]{32}"),
    "mailgun-key": (("key-",), r"key-[0-9a-f]{32}"),
    "digitalocean-token": (("_v1_",), r"do[opr]_v1_[0-9a-f]{64}"),
    "shopify-token": (("shp",), r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    "databricks-token": (("dapi",), r"dapi[0-9a-f]{32}(?:-\d)?"),
    "linear-key": (("lin_",), r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    "notion-key": (("secret_", "ntn_"), r"(?:secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,})"),
    "atlassian-token": (("atatt", "atctt"), r"AT[AC]TT3[\w=.-]{50,}"),
    "vault-token": (("hvs.", "hvb."), r"hv[sb]\.[\w-]{24,}"),
    "doppler-token": (("dp.",), r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:\w+\.)?[A-Za-z0-9]{40,}"),
    "postman-key": (("pmak-",), r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    "newrelic-key": (("nrak-", "nraa-", "nrii-"), r"NR(?:AK|AA|II)-[\w-]{27,32}"),
    "grafana-token": (("glsa_", "glc_"), r"(?:glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/=]{32,})"),
    "sentry-token": (("sntry",), r"sntry[su]_[\w=+/.-]{40,}"),
    "supabase-key": (("sbp_", "sb_secret_"), r"(?:sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,})"),
    "planetscale-token": (("pscale_",), r"pscale_(?:tkn|pw|oauth)_[\w.-]{32,}"),
    "fly-token": (("fm1", "fm2_", "fo1_"), r"(?:fm[12][ar]?_[\w+/=]{40,}|fo1_[\w-]{40,})"),
    "age-key": (("age-secret-key-1",), r"(?i:AGE-SECRET-KEY-1[0-9A-Z]{58})"),
    "azure-storage-key": (("accountkey=",), r"(?<=AccountKey=)[A-Za-z0-9+/]{60,90}={0,2}"),
    "azure-signature": (("sig=",), r"(?<=[?&]sig=)[\w%+/-]{40,}(?:%3[dD]|=)*"),
    "docker-token": (("dckr_",), r"dckr_[po]at_[\w-]{20,}"),
    "tailscale-key": (("tskey-",), r"tskey-[a-z]+-\w{8,}(?:-\w{16,})?"),
    "terraform-token": ((".atlasv1.",), r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}"),
    "netlify-token": (("nfp_", "nfc_"), r"nf[pc]_[A-Za-z0-9]{36,}"),
    "vercel-token": (("vercel_blob_rw_",), r"vercel_blob_rw_\w{24,}"),
    "circleci-token": (("ccipat_", "ccipprj_"), r"CCIP(?:AT|RJ|PRJ)_[A-Za-z0-9]{16,}_[0-9a-f]{32,}"),
    "rubygems-key": (("rubygems_",), r"rubygems_[0-9a-f]{48}"),
    "figma-token": (("figd_",), r"figd_[\w-]{36,}"),
    "airtable-token": (("pat",), r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    "heroku-key": (("hrku-",), r"HRKU-[\w-]{36,}"),
    "langsmith-key": (("lsv2_",), r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    "tavily-key": (("tvly-",), r"tvly-(?:dev-|prod-)?[\w-]{28,}"),
    "square-token": (("sq0",), r"sq0(?:csp|atp|idp)-[\w-]{22,}"),
    "okta-token": (("ssws",), r"(?<=(?i:SSWS ))00[\w-]{20,}"),
    "fireworks-key": (("fw_",), r"fw_(?=[A-Za-z]{0,200}\d)[A-Za-z0-9]{20,}"),
    "nuget-key": (("oy2",), r"oy2[a-z0-9]{43}(?![a-z0-9])"),
    "onepassword-token": (("ops_eyj",), r"ops_eyJ[\w-]{40,}={0,2}"),
    "sentry-dsn": ((".ingest.", "@sentry"), r"(?<=://)[0-9a-f]{32}(?=@[\w.-]{0,60}sentry)"),
    "jwt": (("eyj",), r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
}  # fmt: skip
