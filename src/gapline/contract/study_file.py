"""Reading `study.toml`: checks field by field and as a whole, expansion, and the part that a replication runs."""

import tomllib
from pathlib import Path

from pydantic import ValidationError

from gapline.contract.contract import Contract, ContractFile
from gapline.contract.expansion import expand_contract
from gapline.contract.layout import CONTRACT_FILE, SUFFIXES
from gapline.contract.mistakes import cross_mistakes, field_mistakes, missing_files, unknown_solvers, value_mistakes
from gapline.contract.plan import part_mistakes, replicated_part
from gapline.errors import ContractError, found_at
from gapline.files.open_file import read_document, reason_of


def load_contract(path: str | Path, *, files: bool = False) -> Contract:
    """Read `study.toml`, or the one in a study directory, and report all its mistakes at once.

    Parameters
    ----------
    path
        The file, or the study directory that holds it.
    files
        Also require that every instance file exists and that every solver is known in this environment; the runner
        needs them, a reader of results does not.

    Raises
    ------
    ContractError
        With one line per mistake: its place in the file, the expected and the given value, and the closest valid name.
    """
    file = Path(path)
    if file.is_dir():
        file = file / CONTRACT_FILE
    if file.exists() and not file.is_file():
        # Reading a pipe would block.
        raise ContractError(str(file), [f"expected a contract, got {found_at(file)}"])
    try:
        data = tomllib.loads(read_document(file).decode("utf-8"))
    except FileNotFoundError:
        hint = "gapline init DIR writes one"
        raise ContractError(str(file), ["expected a contract, got no file"], hint=hint) from None
    except OSError as error:
        raise ContractError(str(file), [f"expected a contract, got {reason_of(error)}"]) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        packed = "a replication package is read by gapline.open_study" if file.name.lower().endswith(SUFFIXES) else None
        raise ContractError(str(file), [f"expected TOML, got {error}"], hint=packed) from error
    if mistakes := value_mistakes(data):
        # The other checks cannot handle paths that the system refuses.
        raise ContractError(str(file), mistakes)
    contract: Contract | None = None
    try:
        contract, mistakes = expand_contract(ContractFile.model_validate(data), file.parent)
    except ValidationError as error:
        mistakes = field_mistakes(error, ContractFile)
    mistakes += cross_mistakes(data, contract)
    if files:
        mistakes += [*missing_files(data, file.parent), *unknown_solvers(data)]
    if contract is not None:
        mistakes += part_mistakes(contract)
    if mistakes or contract is None:
        raise ContractError(str(file), mistakes)
    return replicated_part(contract)
