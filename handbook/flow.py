"""The drawn flow of ARCHITECTURE.md: folders as boxes, and between them what is handed on."""

from html import escape

# The folders of the flow, what each does, and the type that it hands on.
STEPS = (
    ("traces, logs, journal", "what solvers said", "Campaign"),
    ("checkers", "every candidate again", "verdicts"),
    ("envelope", "valid, in time, better", "Envelopes"),
    ("references", "snapshots and policies", "Snapshot"),
    ("scoring", "gap, weight, integral", "Scores"),
    ("statistics", "means and intervals", "Summary"),
    ("measures", "classical measures", "tables"),
    ("study", "choices, plan, sensitivity", "Study"),
    ("report", "page, tables, figures", ""),
)
_WIDTH, _HEIGHT, _COLUMNS = 210, 64, 3
_ACROSS, _DOWN = 300, 130
_STYLE = (
    "text{font-family:system-ui,sans-serif;fill:#1a1a1a}.name{font-size:16px;font-weight:600}"
    ".words{font-size:12px;fill:#555}.goes{font-size:12px;fill:#0a4f7d}rect{fill:#eef4fa;stroke:#0072B2;stroke-width:1.5}"
    "path{fill:none;stroke:#0072B2;stroke-width:1.5;marker-end:url(#tip)}"
)


def flow_svg() -> str:
    """Return the drawing: three rows of three, read like a page."""
    rows = -(-len(STEPS) // _COLUMNS)
    width, height = 2 * _ACROSS + _WIDTH + 20, (rows - 1) * _DOWN + _HEIGHT + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'role="img" aria-label="The flow of gapline, from journals and logs to the report">',
        f"<style>{_STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<polygon points="0,0 8,4 0,8" fill="#0072B2"/></marker></defs>',
    ]
    for k, (name, words, goes) in enumerate(STEPS):
        x, y = 10 + (k % _COLUMNS) * _ACROSS, 20 + (k // _COLUMNS) * _DOWN
        parts.append(f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="8"/>')
        parts += [_text("name", x + _WIDTH / 2, y + 28, name), _text("words", x + _WIDTH / 2, y + 48, words)]
        if goes:
            parts += _arrow(k, x, y, goes)
    return "\n".join([*parts, "</svg>\n"])


def _text(kind: str, x: float, y: float, words: str) -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="middle">{escape(words)}</text>'


def _arrow(k: int, x: float, y: float, goes: str) -> list[str]:
    """Draw what is handed on: to the right, or from the end of a row to the begin of the next."""
    level, below = y + _HEIGHT / 2, y + _HEIGHT
    if (k + 1) % _COLUMNS:
        start, end = x + _WIDTH + 2, x + _ACROSS - 2
        return [f'<path d="M{start:g} {level:g}H{end:g}"/>', _text("goes", (start + end) / 2, level - 8, goes)]
    first, turn = 10 + _WIDTH / 2, below + (_DOWN - _HEIGHT) / 2
    path = f"M{x + _WIDTH / 2:g} {below + 2:g}V{turn:g}H{first:g}V{y + _DOWN - 2:g}"
    return [f'<path d="{path}"/>', _text("goes", first + _ACROSS, turn - 8, goes)]
