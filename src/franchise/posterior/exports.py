"""Export of all tables of a posterior to a folder, for other programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from franchise.errors import InputError, warn_caller
from franchise.posterior.contract import DrawT, PosteriorContract
from franchise.posterior.topic_effects import TopicEffects
from franchise.storage.atomic import folder_written_whole, read_errors_named
from franchise.storage.table_files import check_table_format, write_tables
from franchise.validation import PathLike, check_folder, check_share, describe

if TYPE_CHECKING:
    import pandas as pd

    from franchise.posterior.base import Posterior
    from franchise.posterior.consensus import Consensus

README, SETTINGS = "README.txt", "settings.json"
_MARK = "franchise export"
_WIDTH = 88

_TABLES = {
    "topics": "one row per topic: label, share of the observations with a 95% interval, draws and chains that have "
    "it, documents in which it is the largest topic, words",
    "words": "one row per topic and word: posterior mean of the probability, and lift, that divided by the share "
    "of the word in the corpus",
    "documents": "one row per document or group: share of every topic (columns 0, 1, ...; other: in no consensus "
    "topic), then the metadata",
    "exposures": "one row per node of the tree of groups and topic: share of the observations at and below the "
    "node with a 95% interval, share of draws that have it, posterior mean of the node's weight",
    "nodes": "one row per node of the tree of groups: level, parent, groups, observations, topics",
    "members": "one row per member of topics that are groups: its group, label, share and words, and the share of "
    "draws in which it is grouped with the others",
    "effects": "one row per regression, topic and term: posterior mean, 95% interval, standard error, share of "
    "draws with the sign of the estimate",
    "summary": "one row per traced quantity: mean, standard deviation, R-hat, effective sample size",
    "agreement": "share of the observations in topics that any two chains have in common",
    "left_over": "share of the observations in no consensus topic, by reason",
}


class ExportTables(PosteriorContract[DrawT]):
    """The export of all tables."""

    def export(
        self,
        folder: PathLike,
        format: str = "csv",
        *,
        effects: TopicEffects | Iterable[TopicEffects] = (),
        min_probability: float = 0.001,
        overwrite: bool = False,
    ) -> Path:
        """Write all tables into a folder, as CSV files, Parquet files or an Excel workbook.

        The tables are topics, words, documents with topics and metadata, effects, summary with R-hat, agreement of
        the chains, excluded topics, and nodes and exposures of trees of groups. README.txt describes them and has
        the verdict on convergence. Nothing is cut without a report: README.txt and a warning name each table that a
        format stores in another way. For example, a table with more rows than Excel allows becomes a CSV file.

        Parameters
        ----------
        folder : path
            A new or empty folder.  It appears complete or not at all.
        format : str
            "csv", "excel" (needs ``franchise[excel]``) or "parquet" (needs ``franchise[io]``).
        effects : TopicEffects or list of TopicEffects
            Regressions on metadata to write, too.
        min_probability : float
            Smallest probability of the words of a topic that are written; 0 writes the whole vocabulary. The table
            of topics has a column with the probability of the others.
        overwrite : bool
            Whether to replace the folder of an earlier export. Other folders are never replaced.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        InputError
            If the folder has files, or the format needs a package that is not installed.

        Examples
        --------
        >>> folder = posterior.export("tables", effects=posterior.effect("~ kind"))
        >>> sorted(path.stem for path in folder.glob("*.csv"))
        ['agreement', 'documents', 'effects', 'left_over', 'summary', 'topics', 'words']
        """
        posterior: Posterior[Any] = self  # type: ignore[assignment]
        format = check_table_format(format)
        least = check_share("min_probability", min_probability)
        listed = _check_effects(effects)
        path = _check_target(Path(folder), overwrite)
        consensus = self.consensus_topics
        consensus.check_any()
        tables = _tables(posterior, listed, least)
        with folder_written_whole(path) as temporary:
            files, notes = write_tables(temporary, tables, format)
            readme = _readme(posterior, files, notes + _omitted_words(consensus, tables, least), listed)
            (temporary / README).write_text(readme, encoding="utf-8")
            names = sorted({README, SETTINGS, *(file.name for file in temporary.iterdir())})
            settings = _settings(posterior, format, least, listed, names)
            (temporary / SETTINGS).write_text(json.dumps(settings, indent=2, default=str), encoding="utf-8")
        if notes:
            warn_caller(f"{path / README} reports: {' '.join(notes)}")
        return path


def _tables(posterior: Posterior[Any], effects: list[TopicEffects], least: float) -> dict[str, pd.DataFrame]:
    """Return all tables, by name."""
    import pandas as pd

    consensus = posterior.consensus_topics
    tables = {"topics": posterior.topic_info()}
    if consensus.has_words:
        tables["words"], omitted = _words(consensus, least)
        tables["topics"]["probability_of_omitted_words"] = omitted
    tables["documents"] = posterior.document_topics(metadata=True)
    if posterior.data.tree is not None:
        tables["nodes"] = posterior.nodes()
        levels = posterior.data.tree.levels
        by_level = [posterior.exposures(level).rename_axis(["node", "topic"]) for level in levels]
        tables["exposures"] = pd.concat(by_level)
    if effects:
        own = [table.table().assign(formula=table.formula.text) for table in effects]
        tables["effects"] = pd.concat(own, ignore_index=True).set_index("formula")
    tables["summary"] = posterior.summary().rename_axis("quantity")
    if consensus.members is not None:
        tables["members"] = posterior.topic_groups()
    tables["agreement"] = consensus.agreement()
    tables["left_over"] = posterior.left_over()
    return tables


def _words(consensus: Consensus, least: float) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the words of every topic with this probability or more, and the probability of the others, (T,)."""
    import pandas as pd

    probabilities = consensus.word_probabilities()
    shown = probabilities >= least
    topics, words = np.nonzero(shown)
    found = probabilities[topics, words]
    order = np.lexsort((words, -found, topics))
    topics, words, found = topics[order], words[order], found[order]
    vocabulary = np.asarray(consensus.vocabulary, dtype=object)
    with np.errstate(divide="ignore", invalid="ignore"):
        lift = found / consensus.word_shares[words]
    columns = {"word": vocabulary[words], "probability": found, "lift": lift}
    omitted = np.where(shown, 0.0, probabilities).sum(axis=1)
    return pd.DataFrame(columns, index=pd.Index(topics, name="topic")), omitted


def _check_effects(effects: object) -> list[TopicEffects]:
    listed = [effects] if isinstance(effects, TopicEffects) else effects
    if isinstance(listed, Iterable) and not isinstance(listed, str):
        listed = list(listed)
        if all(isinstance(each, TopicEffects) for each in listed):
            return listed
    raise InputError(
        f"effects must be what posterior.effect returns, or a list of these; got {describe(effects)}."
    )


def _check_target(path: Path, overwrite: bool) -> Path:
    """Return a folder that is new or empty, or an earlier export that may be replaced; InputError for others."""
    path = check_folder("folder", path.absolute())
    there = sorted(file.name for file in path.iterdir()) if path.exists() else []
    if not there:
        return path
    known: set[str] = set()
    if (path / SETTINGS).is_file():
        with read_errors_named(path / SETTINGS):
            settings = json.loads((path / SETTINGS).read_text(encoding="utf-8"))
        if isinstance(settings, Mapping) and settings.get("written_by") == _MARK:
            known = set(map(str, settings.get("files", ())))
    others = [name for name in there if name not in known]
    if others:
        raise InputError(
            f"folder must be new, empty or made by an earlier export; {str(path)!r} has {describe(others[0])}. "
            f"Give another folder."
        )
    if not overwrite:
        raise InputError(
            f"folder {str(path)!r} has an earlier export. Give another folder, or overwrite=True (--overwrite)."
        )
    return path


# --- the readme ----------------------------------------------------------------------------------------------


def _omitted_words(consensus: Consensus, tables: Mapping[str, pd.DataFrame], least: float) -> list[str]:
    """Words that are omitted on request, one sentence each."""
    if "words" not in tables:
        return []
    all_of_them = consensus.topic_count * consensus.corpus.vocabulary_size
    omitted = all_of_them - len(tables["words"])
    if not omitted:
        return []
    most = float(tables["topics"]["probability_of_omitted_words"].max())
    return [
        f"The table words omits {omitted:,} of {all_of_them:,} pairs of a topic and a word, those with a "
        f"probability below {least:g}: at most {most:.1%} of a topic. min_probability=0 writes all."
    ]


def _readme(
    posterior: Posterior[Any], files: Mapping[str, str], notes: list[str], effects: list[TopicEffects]
) -> str:
    from textwrap import fill

    from franchise import __version__

    verdict = posterior.verdict()
    lines = [
        f"Tables of a topic model, written with franchise {__version__}",
        "",
        fill(
            f"{posterior.n_chains} chains x {posterior.n_draws} draws, sampler {posterior.sampler}, seed "
            f"{posterior.seed}, model {posterior.model_description}. {SETTINGS} has the settings for programs.",
            _WIDTH,
        ),
        "",
        "Convergence",
        *(
            fill(text, _WIDTH, initial_indent="  ", subsequent_indent="  ")
            for text in [verdict.sentence, *verdict.details]
        ),
        "",
        "Files. Topics have the same numbers in all of them. Empty cells are missing values.",
        *(
            fill(f"{file}: {_TABLES[name]}", _WIDTH, initial_indent="  ", subsequent_indent="      ")
            for name, file in files.items()
        ),
    ]
    said = [*filter(None, [consensus_note(posterior)]), *notes, *(each.note for each in effects if each.note)]
    if said:
        lines += ["", "Notes"]
        lines += [
            fill(text, _WIDTH, initial_indent="  ", subsequent_indent="  ") for text in dict.fromkeys(said)
        ]
    return "\n".join(lines) + "\n"


def consensus_note(posterior: PosteriorContract[Any]) -> str:
    """Return the note on data that the consensus topics do not cover."""
    return posterior.consensus_topics.note


def _settings(
    posterior: Posterior[Any], format: str, least: float, effects: list[TopicEffects], files: list[str]
) -> dict[str, Any]:
    from franchise import __version__

    rules = posterior.consensus_topics.rules
    return {
        "written_by": _MARK,
        "version": __version__,
        "files": files,
        "format": format,
        "min_probability": least,
        "model": posterior.model_description,
        "numbers_above": {name: repr(value) for name, value in posterior.numbers_above.items()},
        "sampler": posterior.sampler,
        "seed": posterior.seed,
        "chains": posterior.n_chains,
        "draws": posterior.n_draws,
        "consensus_rules": {name: getattr(rules, name) for name in rules._fields},
        "effects": [
            {"formula": each.formula.text, "measure": each.measure, "errors": each.errors, "note": each.note}
            for each in effects
        ],
        "verdict": posterior.verdict().level,
    }
