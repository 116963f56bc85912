"""The contract of an exhibit as a file of its study, and as a block of its page."""

from pathlib import Path
from string import Template

from gapline.contract.layout import CONTRACT_FILE


def write_contract(folder: Path, text: str, **values: object) -> None:
    """Write `study.toml`, unless an earlier call did; `$NAME` stands for a value."""
    if not (folder / CONTRACT_FILE).exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CONTRACT_FILE).write_text(Template(text).substitute(values), encoding="utf-8")


def contract_block(folder: Path) -> str:
    """Return the contract as it ran."""
    return f"```toml\n{(folder / CONTRACT_FILE).read_text(encoding='utf-8').rstrip()}\n```"
