"""The page at `/`: what a browser without any script shows of the studies, made anew every few seconds."""

import base64
import hashlib
from html import escape
from typing import Any

from gapline.serve.hub import Hub

STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:1.5rem auto;max-width:60rem;padding:0 1rem}"
    "table{border-collapse:collapse}td,th{padding:.2rem .8rem;text-align:right}td:first-child{text-align:left}"
    ".alarm{color:#b00;font-weight:bold}@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}}"
)


def page_of(hub: Hub) -> tuple[bytes, bytes]:
    """Return the page and its content-security policy."""
    parts = [_study(watched.channel.state) for watched in hub.studies.values() if watched.channel.state]
    text = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<meta http-equiv="refresh" content="5"><title>gapline</title><style>{STYLE}</style>'
        f"<body>{''.join(parts) or '<p>reading the journals</p>'}</body></html>"
    )
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )
    return text.encode("utf-8", "replace"), policy.encode()


def _study(state: dict[str, Any]) -> str:
    progress = state.get("progress") or {}
    counts = ", ".join(f"{progress[name]} {name}" for name in ("done", "running", "failed", "left") if name in progress)
    runner, refused = state.get("runner") or {}, state.get("refused")
    lines = [f"<h1>{escape(state['study']['name'])}</h1>", f"<p>{escape(state['phase'])}: {escape(counts)}</p>"]
    if runner.get("resume"):
        lines.append(f"<p>{escape(runner['words'])}; go on with <code>{escape(runner['resume'])}</code></p>")
    lines += [f'<p class="alarm">{escape(_words(one))}</p>' for one in (*state["alarms"], *state["running_alarms"])]
    if refused:
        lines.append(f"<p>{escape(refused['message'])}</p>")
    kernels = state.get("kernels") or []
    head = "".join(f"<th>{escape(kernel)}</th>" for kernel in kernels)
    rows = "".join(
        f"<tr><td>{escape(row['arm'])}</td><td>{row['runs']}</td>"
        + "".join(f"<td>{row['scores'][kernel]}</td>" for kernel in kernels)
        + "</tr>"
        for row in state["arms"]
    )
    table = f"<table><tr><th>arm</th><th>runs</th>{head}</tr>{rows}</table>" if rows else ""
    events = "".join(
        f"<li>{escape(one['at'][11:19])} {escape(one['run'] or '')} {escape(one['kind'])}: {escape(one['text'])}</li>"
        for one in state["events"][:20]
    )
    return "".join(lines) + table + f"<ul>{events}</ul>"


def _words(alarm: dict[str, Any]) -> str:
    return f"{alarm['instance']}: {alarm['kind']}"
