"""Which of two origins is the weaker."""

from onrecord.domain.trust import choose_weakest, get_trust


def test_the_weakest_origin_is_the_one_least_known() -> None:
    assert choose_weakest(["user", "agent"]) == "agent"
    assert choose_weakest(["agent", "file"]) == choose_weakest(["file", "agent"]) == "file"
    assert choose_weakest(["confirmed", "no origin"]) == "no origin"
    assert choose_weakest([]) == "unknown"


def test_an_edit_by_hand_is_trusted_as_an_agent_is() -> None:
    assert get_trust("file") == get_trust("agent") == 4
    assert [get_trust(origin) for origin in ("confirmed", "user", "import", "web", "unknown", "x")] == [
        1,
        2,
        3,
        5,
        6,
        6,
    ]
