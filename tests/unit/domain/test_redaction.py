"""Secrets in many forms and languages go, prose stays; tokens are put together here so that no scanner finds them."""

import base64
import random
import time

import pytest

from onrecord.domain.redaction import Finding, Redaction, find_secrets, redact

WORD = "hunter" + "2"
MIXED = "a1B2c3D4e5" + "F6g7H8i9J0"
LONG = "Zx9" + MIXED + MIXED
HEX = "0123456789abcdef"
PEM_LINE = "MIIEvQIBADANBgkqhkiG9w0BAQEF" + "AASCBKcwggSjAgEAAoIBAQC7abcdefghijkl"


def armour(edge: str, kind: str = "RSA PRIVATE KEY") -> str:
    return "-----" + edge + " " + kind + "-----"


PEM_BODY = "\n".join([PEM_LINE] * 4)
JWT = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjMifQ" + ".abc_def-123"
SEED = "abandon ability able about above absent absorb abstract absurd abuse access accident"

# What stands around the secret, the secret, and the rule that names it.
FORMS = [
    ("{}", armour("BEGIN") + "\n" + PEM_BODY + "\n" + armour("END"), "private-key"),
    ("{}", armour("BEGIN") + "\n" + PEM_BODY, "private-key"),
    ("my key:\n{}\n\nThat was it.", armour("BEGIN") + "\n" + PEM_BODY, "private-key"),
    ('"{}"', armour("BEGIN") + "\\n" + PEM_BODY.replace("\n", "\\n") + "\\n" + armour("END"), "private-key"),
    ("> {}", armour("BEGIN") + "\n> " + PEM_BODY.replace("\n", "\n> "), "private-key"),
    ("the rest is\n{}", PEM_BODY + "\n" + armour("END"), "private-key"),
    ("{}", armour("BEGIN", "OPENSSH PRIVATE KEY") + "\nb3BlbnNzaC1rZXktdjEAAAAA", "private-key"),
    (
        "{}",
        armour("BEGIN", "PGP PRIVATE KEY BLOCK")
        + "\nVersion: GnuPG v2\n\n"
        + PEM_LINE
        + "\n"
        + armour("END", "PGP PRIVATE KEY BLOCK"),
        "private-key",
    ),
    ("Cookie: {}", "sid=abc123; theme=dark", "cookie"),
    ("Set-Cookie: {}\r\nDate: today", 'prefs="a b"; sid=abc123; Path=/', "cookie"),
    ("curl -H 'Cookie: {}' example.org", "sid=abc123", "cookie"),
    ('{{"Cookie": "{}"}}', "sid=abc123", "cookie"),
    ("curl -b '{}' example.org", "sid=abc123", "cookie"),
    ("JSESSIONID={}", MIXED, "session-cookie"),
    ("Authorization: Bearer {}", MIXED, "authorization"),
    ("authorization: Basic {}", base64.b64encode(b"bob:" + WORD.encode()).decode(), "authorization"),
    ("Proxy-Authorization: Basic {}", base64.b64encode(b"user:pass").decode(), "authorization"),
    ("the header is Basic {}", base64.b64encode(b"user:pass").decode(), "authorization"),
    ("Authorization: Digest {}", 'username="bob", response="abc"', "authorization"),
    ("curl -H 'Authorization: Bearer {}' example.org", MIXED, "authorization"),
    ("send Bearer {} with it", MIXED, "authorization"),
    ("{}", "sk" + "-" + LONG, "openai-key"),
    ("use {}.", "sk-" + "proj-" + LONG, "openai-key"),
    ("{}", "sk-" + "ant-api03-" + LONG, "anthropic-key"),
    ("密钥{}。", "sk-" + "ant-api03-" + LONG, "anthropic-key"),
    ("{}", "sk_" + "live_" + MIXED, "stripe-key"),
    ("{}", "rk_" + "test_" + MIXED, "stripe-key"),
    ("用 {} 这个", "gh" + "p_" + MIXED + MIXED, "github-token"),
    ("{}", "github" + "_pat_" + MIXED + "_" + MIXED, "github-token"),
    ("({})", "gl" + "pat-" + MIXED, "gitlab-token"),
    ("{}", "npm" + "_" + MIXED + MIXED, "npm-token"),
    ("{}", "hf" + "_" + MIXED + "abc", "huggingface-token"),
    ("{}", "xo" + "xb-1234567890-1234567890-" + MIXED, "slack-token"),
    ("id {} there", "AK" + "IA1234567890ABCDEF", "aws-access-key-id"),
    ("aws_secret_access_key = {}", "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYzzzzzz7KEY", "aws-secret-access-key"),
    ("{}", "AI" + "zaSyA1" + MIXED + MIXED[:12], "google-api-key"),
    ("{}", "ya" + "29." + LONG, "google-oauth-token"),
    ("token={}", JWT, "jwt"),
    ("{}", JWT[: JWT.rindex(".")], "jwt"),
    ("postgres://bob:{}@db.local/x", "s3cr3t", "url-password"),
    ("redis://:{}@cache:6379", "pa55", "url-password"),
    ("https://bob:{}@example.org", "p@ss:word", "url-password"),
    ("curl -u bob:{} https://example.org", WORD, "command-password"),
    ("mysql -u root -p{} shop", WORD, "command-password"),
    ("sshpass -p {} ssh host", WORD, "command-password"),
    ("docker login -u bob -p {}", WORD, "command-password"),
    ("machine h login bob password {}", WORD, "netrc"),
    ("seed phrase: {}", SEED, "seed-phrase"),
    ("passphrase: {}", "correct horse battery staple", "seed-phrase"),
    ("{}", "dop" + "_v1_" + HEX * 4, "digitalocean-pat"),
    ("{}", "h" + "vs." + (MIXED * 5)[:95], "vault-service-token"),
    ("adobe_secret = {}.", "p8" + "e-" + HEX * 2, "adobe-client-secret"),
    ("kind: Secret\ndata:\n  tls: {}", "YWJjZGVmZ2hpamtsbW5vcA==", "kubernetes-secret-yaml"),
    ("signing_value_key = '{}'", LONG, "generic-api-key"),
]

NAMED = [
    ("password: {}", WORD, "password"),
    ("Password: {}", "swordfish", "password"),
    ("password - {}", WORD, "password"),
    ("password:\n  {}\n", WORD, "password"),
    ("password: |\n  {}\n", WORD, "password"),
    ("DB_PASSWORD={}", "postgres", "password"),
    ("DB_PASS={} DB_HOST=local", "pgpass99", "password"),
    ("db.password = {}", "swordfish", "password"),
    ("DB_PASSWORD_PROD={}", "swordfish", "password"),
    ('{{"password": "{}"}}', WORD, "password"),
    ('{{"password":"{}","user":"bob"}}', "swordfish", "password"),
    ('"password": "{}"', 'with \\"quotes\\" in it 1'.replace(" ", "_"), "password"),
    ('\\"password\\": \\"{}\\"', WORD, "password"),
    ("password: '{}'", "pw1", "password"),
    ("--password {}", WORD, "password"),
    ("tool --db-password={} run", WORD, "password"),
    ("server=x;Password={};Database=y", "abc123", "password"),
    ("https://example.org/login?password={}&next=1", "foo1", "password"),
    ("<password>{}</password>", WORD, "password"),
    ('<add key="password" value="{}"/>', WORD, "password"),
    ('("password", "{}")', WORD, "password"),
    ("ALTER USER bob WITH PASSWORD '{}';", "swordfish", "password"),
    ("**Password:** {}", WORD, "password"),
    ("| password | {} |", WORD, "password"),
    ("- Password: `{}`", WORD, "password"),
    ("my password is {}", WORD, "password"),
    ("My password is {}.", "swordfish", "password"),
    ("our passcode is {}, do not share it", "sunflower", "password"),
    ("the password for the wifi is {}", WORD, "password"),
    ("password (wifi): {}", WORD, "password"),
    ("I changed the password to {} today", WORD, "password"),
    ("pass: {}", WORD, "password"),
    ("user bob, pw {}", WORD, "password"),
    ("the cabin: network Alpen, password {}", "Edelweiss" + "7!", "password"),
    ("use {} as the password", WORD, "password"),
    ("'{}' is my wifi password, by the way", WORD, "password"),
    ('password = "{}"', "black dogs", "password"),
    ("PIN: {}", "4821", "pin"),
    ("PIN {}", "4821", "pin"),
    ("my pin is {} and yours", "4821", "pin"),
    ("the API key is {}", MIXED, "api-key"),
    ("API key: {}", MIXED, "api-key"),
    ("x-api-key: {}", MIXED, "api-key"),
    ("API key {}", MIXED, "api-key"),
    ("apiKey: '{}'", MIXED, "api-key"),
    ("client_secret={}", MIXED, "api-key"),
    ("API key: {}", "550e8400-e29b-41d4-a716-446655440000", "api-key"),
    ("access_token: {}", MIXED, "access-token"),
    ("GITHUB_TOKEN={}", MIXED, "token"),
    ('"token": "{}"', MIXED, "token"),
    ("secret: {}", MIXED, "token"),
    ("密码：{}", WORD, "password"),
    ("密码：{}请勿外传", WORD, "password"),
    ("密码: {}", "12345678", "password"),
    ("我的密码是{}。", WORD, "password"),
    ("密码（旧）：{}", WORD, "password"),
    ("密码改成了 {}", WORD, "password"),
    ("密码 {}", WORD, "password"),
    ("口令：{}", "opensesame1", "password"),
    ("密碼是 {}", WORD, "password"),
    ("密钥：{}", MIXED, "api-key"),
    ("令牌是{}", MIXED, "api-key"),
    ("パスワードは {} です", WORD, "password"),
    ("パスワードは{}です。", "swordfish", "password"),
    ("パスワード：{}", WORD, "password"),
    ("パスワードは「{}」です", WORD, "password"),
    ("パスワードを {} に変更した", WORD, "password"),
    ("暗証番号は{}です", "4821", "pin"),
    ("暗証番号：{}", "4821", "pin"),
    ("APIキー：{}", MIXED, "api-key"),
    ("Passwort: {}", "geheim123", "password"),
    ("das Passwort ist {}", "geheim123", "password"),
    ("mot de passe : {}", "soleil42", "password"),
    ("contraseña: {}", "sol2024x", "password"),
    ("la contraseña es {}", "sol2024x", "password"),
    ("пароль: {}", WORD, "password"),
    ("비밀번호는 {} 입니다", WORD, "password"),
]

HITS = FORMS + NAMED

PROSE = [
    "token: the smallest unit of text",
    "Tokens: 128000",
    "max_tokens: 4096, token_count=12",
    "The token is deprecated.",
    "token = get_token()",
    "tokenizer: cl100k_base",
    "password policy: at least twelve characters",
    "The password is stored in the vault",
    "The password is at least 12 characters long",
    "The password is 12 characters long",
    "The password is wrong.",
    "the password is required, try again",
    "the password is case-sensitive",
    "the password is base64-encoded",
    "password: required",
    "password: string",
    "password: 8-64 characters",
    "password manager: 1Password",
    "the password manager KeePass2 and the password step of OAuth2",
    "SHA256 is the password hash, MD5 was the old password hash",
    'password = "the one of the vault"',
    "an API key can be revoked, API keys2024 cannot",
    "passwordless: true",
    "password_hash: none",
    "password: <your password>",
    "password: ${DB_PASSWORD}",
    "password=os.environ['DB_PASSWORD']",
    "def login(user: str, password: str) -> None:",
    "login(user, password=password)",
    "self.password = password",
    "compare the password to the hash",
    "add the password to vault.yaml",
    "password: ********",
    "see [[password]] and [[token]]",
    '["password", "username", "token"]',
    "secret santa",
    "Secret: nobody knows",
    "the secret of success is work",
    "key: value",
    "primary key: 01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "record key: k3v9x2m4q8w1",
    "idempotency key: 550e8400-e29b-41d4-a716-446655440000",
    "the access key is Alt+F",
    "last access: 2024-05-01T10:22",
    "private key: ~/.ssh/id_ed25519",
    "A key starts with " + armour("BEGIN", "PRIVATE KEY") + " in PEM",
    "The API key is read from OPENAI_API_KEY",
    "API key: see the vault",
    "cookie: a sweet biscuit",
    "the cookie: chocolate, two eggs",
    "the bearer of bad news, Bearer of a letter",
    "basic understanding of arithmetic",
    "authorization: required",
    "Authorization: Bearer <token>",
    "the PIN is 4 digits",
    "pin 13 on the board, pin: 13",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "sha256: " + "ab12" * 16,
    "the public key is sha256:" + "ab12" * 16,
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    "https://example.org:8080/a@b?key=1",
    "mail bob@example.org, ratio 3:4, at 10:30",
    "sk-learn-contrib-package-name",
    "密码学是一门学科",
    "密码管理器很好用",
    "密码是必填项",
    "密码是8位",
    "密码为8-16位字符",
    "密码：MD5 加密",
    "密码是SHA256加密的",
    "密码长度至少12位",
    "口令是什么",
    "密钥是一种数据",
    "令牌是 JWT",
    "パスワードの長さは12文字以上",
    "パスワードはSHA256で保存",
    "パスワードはvaultに保存",
    "パスワードを忘れた",
    "暗証番号は4桁です",
    "トークンは最小単位です",
    "シークレットサンタは楽しい",
    "Passwort ist falsch",
    "mot de passe oublié",
    "la contraseña es obligatoria",
]


@pytest.mark.parametrize(("around", "secret", "rule"), HITS)
def test_a_secret_is_replaced_and_the_words_around_it_stay(around: str, secret: str, rule: str) -> None:
    assert redact(around.format(secret)).text == around.format(f"[redacted:{rule}]")


@pytest.mark.parametrize("text", PROSE)
def test_prose_about_secrets_stays_as_it_is(text: str) -> None:
    assert redact(text) == Redaction(text, ())


@pytest.mark.parametrize(("around", "secret", "rule"), HITS)
def test_a_redacted_text_is_redacted_to_itself(around: str, secret: str, rule: str) -> None:
    text = redact(around.format(secret)).text
    assert redact(text) == Redaction(text, ())


@pytest.mark.parametrize(("around", "secret", "rule"), HITS)
def test_no_secret_is_in_what_a_finding_shows(around: str, secret: str, rule: str) -> None:
    done = redact(around.format(secret))
    shown = done.text + repr([(finding.rule, finding.start, finding.end) for finding in done.findings])
    assert secret not in shown + repr(done)


@pytest.mark.parametrize(("around", "secret", "rule"), HITS)
def test_a_secret_amid_a_longer_note_is_found(around: str, secret: str, rule: str) -> None:
    note = "Call Anna on Tuesday.\n\n" + around.format(secret) + "\n\nBuy tea 🍵 and milk."
    assert redact(note).text == note.replace(around.format(secret), around.format(f"[redacted:{rule}]"))


def test_there_are_hits_and_misses_enough_in_three_languages() -> None:
    assert len(HITS) >= 60
    assert len(PROSE) >= 60
    for texts in ([around for around, _, _ in HITS], PROSE):
        assert sum(any("一" <= char <= "鿿" for char in text) for text in texts) >= 5
        assert sum(any("ァ" <= char <= "ヿ" for char in text) for text in texts) >= 3


def test_offsets_are_code_points_of_the_given_text() -> None:
    text = "🍵 密码：" + WORD + " 🍵 password: " + WORD
    assert find_secrets(text) == (
        Finding("password", 5, 5 + len(WORD)),
        Finding("password", text.rindex(WORD), len(text)),
    )


def test_what_overlaps_is_one_finding_named_by_the_surest_rule() -> None:
    token = "sk-" + "ant-api03-" + LONG
    assert redact(f"password: {token}").text == "password: [redacted:anthropic-key]"


def test_markers_of_an_earlier_redaction_stay_and_hide_no_secret_beside_them() -> None:
    done = redact("Cookie: a=[redacted:jwt]; sid=abc123")
    assert "abc123" not in done.text
    assert "[redacted:jwt]" in done.text
    assert redact(done.text) == Redaction(done.text, ())


def test_each_of_many_secrets_is_found() -> None:
    text = "".join(f"DB{number}_PASSWORD=value{number}\n" for number in range(500))
    assert len(find_secrets(text)) == 500
    assert "value" not in redact(text).text


@pytest.mark.parametrize("offset", [-2000, -70, -64, -40, -20, -1, 0, 1, 20])
def test_a_secret_across_the_edge_of_a_search_window_is_found(offset: int) -> None:
    token = "dop" + "_v1_" + HEX * 4
    text = "x " * (16 * 1024 + offset // 2) + " " * (offset % 2) + token + " y" * 20_000
    assert redact(text).text == text.replace(token, "[redacted:digitalocean-pat]")


def test_a_secret_longer_than_the_windows_lookahead_is_found_whole() -> None:
    token = "op" + "s_eyJ" + "".join(random.Random(7).choices("abcdefghijklmnopqrstuvwxyzABCDEF0123456789", k=9_000))
    text = "x " * 15_000 + token + " y" * 1_000
    assert redact(text).text == text.replace(token, "[redacted:1password-service-account-token]")


def test_a_value_longer_than_what_is_judged_goes_whole() -> None:
    value = "aB3" * 3_000
    assert redact(f"password={value} end").text == "password=[redacted:password] end"


def encode_noise(size: int) -> str:
    return base64.b64encode(random.Random(11).randbytes(size * 3 // 4)).decode()


FULL = 2**21
PART = 2**18
HOSTILE = {
    "one letter": "a" * FULL,
    "equals signs": "=" * FULL,
    "one key word": "password=" * 200_000,
    "base64 in one line": encode_noise(FULL),
    "colons": "密码：" * (PART // 3),
    "open quotes": 'password: "' * (PART // 11),
    "purposes": "token for " * (PART // 10),
    "begin lines": armour("BEGIN", "PRIVATE KEY") * (PART // 27),
    "end lines": armour("END", "PRIVATE KEY") * (PART // 25),
    "urls": "://a:" * (PART // 5),
    "jwt heads": "eyJaaaaaaaaa." * (PART // 13),
    "headers": "authorization: " * (PART // 15),
    "cookies": '"cookie: ' * (PART // 9),
    "commands": "curl -u a" * (PART // 9),
    "manifests": "secret data: a:aaaaaaaaaaa " * (PART // 27),
    "owners": "abcdef1 is my password " * (PART // 23),
    "blanks": "password" + " " * PART,
    "markers": "password: [redacted:password] " * (PART // 30),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_costs_no_more_than_its_length(name: str) -> None:
    start_s = time.process_time()
    find_secrets(HOSTILE[name])
    assert time.process_time() - start_s < 20
