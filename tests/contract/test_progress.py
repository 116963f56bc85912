"""What is done is told to whoever listens, and to nobody after that."""

from gapline.contract.progress import Doing, doing, told


def test_nobody_has_to_listen():
    doing("anything", 1, 2)


def test_listeners_hear_what_is_done_until_they_stop():
    heard = []
    with told(heard.append):
        doing("drawing figures", 3, 31)
        doing("building the page")
    doing("more")
    assert heard == [Doing("drawing figures", 3, 31), Doing("building the page")]
    assert list(map(str, heard)) == ["drawing figures 3 of 31", "building the page"]
