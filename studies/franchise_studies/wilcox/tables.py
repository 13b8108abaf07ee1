"""Tables 7.2 and 7.3 with our columns beside the printed ones; decoding; epsilon with priors that fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from franchise_studies.wilcox import printed
from franchise_studies.wilcox.fits import Outcome

if TYPE_CHECKING:
    import pandas as pd


AS_PRINTED, BY_ARGMAX = "(5.51) as printed", "the same, argmax matching"


def _table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows)


def _begin(outcome: Outcome) -> dict[str, Any]:
    design = outcome["design"]
    return {
        "data": design["number"],
        "N_s": design["sentences"],
        "K": design["topics"],
        "epsilon": design["switch"],
    }


def relative_error(outcome: Outcome, method: str) -> float:
    """|estimate - epsilon| / epsilon."""
    true = outcome["design"]["switch"]
    return float(abs(outcome[method]["switch"] - true) / true)


def interval(low: float, high: float) -> str:
    """An interval as the thesis prints it."""
    return f"({low:.3f}, {high:.3f})"


def table_of_em(outcomes: list[Outcome]) -> pd.DataFrame:
    """Table 7.2."""
    rows = []
    for outcome in outcomes:
        row, ours = printed.EM[outcome["design"]["number"]], outcome["em"]
        rows.append(
            {
                **_begin(outcome),
                "estimate, printed": row.switch,
                "estimate": ours["switch"],
                "relative error": relative_error(outcome, "em"),
                "theta, printed": row.theta,
                "theta": ours["theta"],
                "phi, printed": row.phi,
                "phi": ours["phi"],
                "accuracy, printed": row.accuracy,
                "Viterbi": ours["path"],
                "sentence": ours["sentence"],
                "true, Viterbi": outcome["truth"]["path"],
                "steps": ours["steps"],
                "seconds": ours["seconds"],
            }
        )
    return _table(rows)


def table_of_gibbs(outcomes: list[Outcome]) -> pd.DataFrame:
    """Table 7.3."""
    rows = []
    for outcome in outcomes:
        row, ours = printed.GIBBS[outcome["design"]["number"]], outcome["gibbs"]
        rows.append(
            {
                **_begin(outcome),
                "estimate, printed": f"{row.switch:.3f} {interval(row.low or 0.0, row.high or 0.0)}",
                "estimate": f"{ours['switch']:.3f} {interval(ours['low'], ours['high'])}",
                "relative error": relative_error(outcome, "gibbs"),
                "theta, printed": row.theta,
                "theta": ours["theta"],
                "phi, printed": row.phi,
                "phi": ours["phi"],
                "accuracy, printed": row.accuracy,
                "mode of draws": ours["accuracy"],
                "true, sentence": outcome["truth"]["sentence"],
                "R-hat": ours["r_hat"],
                "ESS": ours["ess"],
                "sweeps": f"{ours['chains']} x ({ours['warmup']} + {ours['draws']} x {ours['thin']})",
                "seconds": ours["seconds"],
            }
        )
    return _table(rows)


def table_of_decoding(outcomes: list[Outcome]) -> pd.DataFrame:
    """Decoding as printed, rightly, and with the true parameters."""
    return _table(
        [
            {
                **_begin(outcome),
                "thesis": printed.EM[outcome["design"]["number"]].accuracy,
                AS_PRINTED: outcome["em"]["printed"],
                BY_ARGMAX: outcome["em"]["printed_argmax"],
                "Viterbi": outcome["em"]["path"],
                "sentence": outcome["em"]["sentence"],
                "true parameters, Viterbi": outcome["truth"]["path"],
                "true parameters, sentence": outcome["truth"]["sentence"],
            }
            for outcome in outcomes
        ]
    )


def table_of_matching(outcomes: list[Outcome]) -> pd.DataFrame:
    """Errors of theta and phi after EM, topics matched or not."""
    return _table(
        [
            {
                **_begin(outcome),
                "theta, printed": printed.EM[outcome["design"]["number"]].theta,
                "theta, matched": outcome["em"]["theta"],
                "theta, not matched": outcome["em"]["theta_unmatched"],
                "phi, printed": printed.EM[outcome["design"]["number"]].phi,
                "phi, matched": outcome["em"]["phi"],
                "phi, not matched": outcome["em"]["phi_unmatched"],
            }
            for outcome in outcomes
        ]
    )


def covers(outcome: Outcome, method: str) -> bool:
    """Whether the 95 % interval of epsilon has the truth in it."""
    return bool(outcome[method]["low"] <= outcome["design"]["switch"] <= outcome[method]["high"])


def table_of_fitting(outcomes: list[Outcome]) -> pd.DataFrame:
    """epsilon with the thesis' priors and with priors that fit the simulation."""
    rows = []
    for outcome in outcomes:
        thesis, ours = outcome["gibbs"], outcome["fitting"]
        rows.append(
            {
                **_begin(outcome),
                "thesis' priors": f"{thesis['switch']:.4f} ({thesis['low']:.4f}, {thesis['high']:.4f})",
                "covers": "yes" if covers(outcome, "gibbs") else "no",
                "alpha, eta that fit": f"{ours['document_prior']:.3g}, {ours['word_prior']:.4g}",
                "estimate": f"{ours['switch']:.4f} ({ours['low']:.4f}, {ours['high']:.4f})",
                "covers now": "yes" if covers(outcome, "fitting") else "no",
                "theta": ours["theta"],
                "accuracy": ours["accuracy"],
                "R-hat": ours["r_hat"],
                "ESS": ours["ess"],
                "seconds": ours["seconds"],
            }
        )
    return _table(rows)


def table_of_crossed(crossed: list[Outcome]) -> pd.DataFrame:
    """epsilon by the prior of theta and the prior of phi."""
    return _table(
        [
            {
                "alpha": row["document_prior"],
                "eta": row["word_prior"],
                "estimate": f"{row['switch']:.4f} ({row['low']:.4f}, {row['high']:.4f})",
                "R-hat": row["r_hat"],
            }
            for row in crossed
        ]
    )
