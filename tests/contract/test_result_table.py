"""A result is a table for every library, and prints the choices behind it."""

import polars as pl

from gapline.contract.result_table import ResultTable


class Named(ResultTable):
    """A table with a caption that a browser could take for markup."""

    def caption(self):
        """Return the caption."""
        return "scores of <b>a</b>"


def test_a_library_that_knows_arrow_takes_it_as_it_is():
    frame = pl.DataFrame({"arm": ["a", "b"], "score": [0.5, 0.25]})
    assert pl.DataFrame(ResultTable(frame)).equals(frame)
    assert len(ResultTable(frame)) == 2


def test_it_shows_its_caption_and_a_notebook_never_obeys_it():
    table = Named(pl.DataFrame({"arm": ["a"]}))
    assert str(table).startswith("scores of <b>a</b>\nshape: (1, 1)")
    assert repr(table) == "Named(scores of <b>a</b>)"
    assert table._repr_html_().startswith("<p>scores of &lt;b&gt;a&lt;/b&gt;</p>")
    assert str(ResultTable(table.frame)).startswith("shape")
