"""Redaction replaces what it finds and nothing else, for any text."""

from hypothesis import example, given
from hypothesis import strategies as st

from onrecord.domain.redaction import Redaction, find_secrets, redact

WORDS = st.sampled_from(
    [
        "tea",
        "the report",
        "password",
        "token",
        "密码",
        "パスワード",
        "API key",
        "secret",
        "pin",
        "Cookie",
        "Authorization",
    ]
)
JOINS = st.sampled_from(
    [": ", "=", " is ", " = ", "：", "は", "是", " ", "\n", '": "', "', '", "->", " | ", "](", "\\n", ", "]
)
VALUES = st.sampled_from(
    [
        "hunter" + "2",
        "4821",
        "swordfish",
        "required",
        "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0" * 2,
        "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjMifQ.x",
        "https://bob:" + "pw1@example.org/",
        "Bearer " + "a1B2c3D4e5F6g7H8i9J0",
        "-----BEGIN " + "PRIVATE KEY-----",
        "[redacted:password]",
        "[redacted:",
        "sid=abc123;",
        '"',
        "'",
        "`",
    ]
)
TEXTS = st.lists(st.one_of(WORDS, JOINS, VALUES, st.text(max_size=12)), max_size=24).map("".join)
PLANTED = st.from_regex(r"[a-z]{3,8}[0-9][A-Z]{2,8}[a-z0-9]{3,12}", fullmatch=True)


@given(TEXTS)
def test_findings_ascend_lie_in_the_text_and_never_overlap(text: str) -> None:
    end = 0
    for finding in find_secrets(text):
        assert end <= finding.start < finding.end <= len(text)
        end = finding.end


@given(TEXTS)
def test_what_lies_outside_the_findings_is_unchanged(text: str) -> None:
    done = redact(text)
    rest = done.text
    at = 0
    for finding in done.findings:
        kept, marker = text[at : finding.start], f"[redacted:{finding.rule}]"
        assert rest.startswith(kept + marker)
        rest = rest[len(kept) + len(marker) :]
        at = finding.end
    assert rest == text[at:]


@given(TEXTS)
@example("password: [redacted:password]")
@example("Cookie: [redacted:cookie]; a=b")
def test_redacting_again_finds_and_changes_nothing(text: str) -> None:
    once = redact(text).text
    assert redact(once) == Redaction(once, ())


@given(TEXTS)
def test_flagging_finds_what_redacting_replaces(text: str) -> None:
    assert find_secrets(text) == redact(text).findings


@given(
    before=TEXTS,
    secret=PLANTED,
    after=TEXTS,
    name=st.sampled_from(["password: ", "DB_PASSWORD=", "密码：", "パスワード："]),
)
def test_a_planted_password_is_gone_whatever_surrounds_it(before: str, secret: str, after: str, name: str) -> None:
    assert secret not in redact(f"{before}\n{name}{secret}\n{after}").text
