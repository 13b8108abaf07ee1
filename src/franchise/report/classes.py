"""Classes of documents that a page shows topics in: a column of the metadata with a few names, such as a party."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from franchise.plots.inputs import AnyPosterior
from franchise.report import plain

MOST_CLASSES = 12
DOCUMENTS_OF_CLASS = 2
"""On average, at least: names that hardly any two documents share are no classes."""


class Classes(NamedTuple):
    """Shares of topics in the classes of documents."""

    by: str
    names: list[str]
    shares: np.ndarray  # float (3, classes, topics): means over draws, and the ends of their intervals

    def of_topic(self, topic: int) -> list[list[float | int | None]]:
        """Mean, low and high of a topic in each class."""
        return [plain.numbers(own) for own in self.shares[:, :, topic].T]


def classes_of(posterior: AnyPosterior) -> Classes | None:
    """Shares of topics in classes, if a column of the metadata has such."""
    column = class_column(posterior.data.metadata)
    if column is None or posterior.matched.topic_count == 0:
        return None
    tables = [table.dropna(how="all") for table in posterior.topics_by_class_interval(column)]
    names = [plain.text(value) for value in tables[0].index]
    return (
        Classes(column, names, np.stack([table.to_numpy(float) for table in tables]))
        if len(names) > 1
        else None
    )


def class_column(metadata: dict[str, list[Any]]) -> str | None:
    """The first column of texts, or of yes and no, that has a few values, each in several documents."""
    for name, values in metadata.items():
        known = [value for value in values if value is not None and value != ""]
        classes = len(set(map(str, known)))
        few = 2 <= classes <= min(MOST_CLASSES, len(known) // DOCUMENTS_OF_CLASS)
        if few and all(isinstance(value, (str, bool)) for value in known):
            return name
    return None
