"""The small files that a command is given; what reads them is loaded only where there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalkit.contracts.contract import Contract
    from evalkit.contracts.policy import Policy


def contract_of(path: str | None) -> Contract:
    """Return the contract of a file, the default one where none is named."""
    from evalkit.contracts.contract import BRISTOL

    if path is None:
        return BRISTOL
    from evalkit.contracts.contract_toml import read_contract

    return read_contract(path)


def policy_of(path: str | None) -> Policy | None:
    """Return the policy of a file, or None where none is named."""
    if path is None:
        return None
    from evalkit.contracts.policy_toml import read_policy

    return read_policy(path)
