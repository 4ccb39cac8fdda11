"""How much of recorded commands is as it was: whole commands, tokens in order, flags in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from evalkit.exact import Exact, Ratio
from evalkit.families.observations.text import items_kept
from evalkit.metric import metric


class CommandCounts(NamedTuple):
    """Sums over commands.

    Attributes:
        cases: The commands.
        identical: Those whose tokens are all equal, in order.
        tokens_kept: Σ of the longest common subsequence of tokens.
        ref_tokens: Tokens of the references.
        flags_kept: Σ of the longest common subsequence of flags.
        ref_flags: Flags of the references.
    """

    cases: int = 0
    identical: int = 0
    tokens_kept: int = 0
    ref_tokens: int = 0
    flags_kept: int = 0
    ref_flags: int = 0


def count_commands(cases: Iterable[Mapping[str, Any]]) -> CommandCounts:
    """Sum over commands.

    >>> count_commands([{"reference": "ls -l --all -- x", "output": "ls -1 --all -- x"}])
    CommandCounts(cases=1, identical=0, tokens_kept=4, ref_tokens=5, flags_kept=1, ref_flags=2)
    """
    number = identical = tokens_kept = ref_tokens = flags_kept = ref_flags = 0
    for case in cases:
        reference, output = case["reference"].split(), case["output"].split()
        flags = [token for token in reference if is_flag(token)]
        number += 1
        identical += reference == output
        tokens_kept += items_kept(reference, output)
        ref_tokens += len(reference)
        flags_kept += items_kept(flags, [token for token in output if is_flag(token)])
        ref_flags += len(flags)
    return CommandCounts(number, identical, tokens_kept, ref_tokens, flags_kept, ref_flags)


def is_flag(token: str) -> bool:
    """Tell whether a token starts with ``-`` and is longer than its dashes.

    >>> [is_flag(token) for token in ("-x", "--all", "-", "--", "x-y")]
    [True, True, False, False, False]
    """
    return token.startswith("-") and token.lstrip("-") != ""


@metric("Command fidelity", "higher", "no-cases")
def command_fidelity(counts: CommandCounts) -> Exact:
    """Commands whose whitespace-split tokens are all equal, in order / commands.

    >>> command_fidelity(CommandCounts(cases=4, identical=3))
    Ratio(numerator=3, denominator=4)
    """
    return Ratio(counts.identical, counts.cases)


@metric("Command token fidelity", "higher", "no-reference-tokens")
def token_fidelity(counts: CommandCounts) -> Exact:
    """Σ longest common subsequence of tokens / Σ reference tokens, so that a shifted token costs one token only.

    >>> token_fidelity(CommandCounts(cases=1, tokens_kept=4, ref_tokens=5))
    Ratio(numerator=4, denominator=5)
    """
    return Ratio(counts.tokens_kept, counts.ref_tokens)


@metric("Flag fidelity", "higher", "no-reference-flags")
def flag_fidelity(counts: CommandCounts) -> Exact:
    """The same over flags: tokens that start with ``-`` and are longer than their dashes.

    >>> flag_fidelity(CommandCounts(cases=1, flags_kept=1, ref_flags=2))
    Ratio(numerator=1, denominator=2)
    """
    return Ratio(counts.flags_kept, counts.ref_flags)
