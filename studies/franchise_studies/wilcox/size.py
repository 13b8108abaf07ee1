"""How much is run, in full and in the quick form."""

from __future__ import annotations

from dataclasses import dataclass

from franchise_studies.wilcox.fits import Effort, Sweeps
from franchise_studies.wilcox.simulation import Design, designs

WRITTEN, ADDED = "as written", "one added"
READINGS = {WRITTEN: 0.0, ADDED: 1.0}
"""What is added to the weights of the simulation's Dirichlet laws."""


@dataclass(frozen=True)
class Size:
    """How much is run."""

    documents: int  # of a simulated data set
    trained: int
    numbers: tuple[int, ...]  # data sets
    starts: int  # of EM
    small: Sweeps  # data sets of 10 sentences a document
    few_topics: Sweeps  # of 250 sentences and 2 topics, where epsilon moves slowly
    many_topics: Sweeps  # of 250 sentences and 10 topics
    large_again: Sweeps  # of 250 sentences, one added
    nips_documents: int | None  # None: as many as the thesis has
    nips_topics: int
    nips_starts: int
    nips_steps: int  # of EM
    lda_passes: int  # over all documents

    def tasks(self) -> list[tuple[str, Design, Effort]]:
        """The data sets, by reading, and what is done with each."""
        return [
            (
                reading,
                design._replace(added=added),
                Effort(self.starts, self._sweeps(design, reading), fitting=reading == WRITTEN),
            )
            for reading, added in READINGS.items()
            for design in designs(self.documents, self.trained)
            if design.number in self.numbers
        ]

    def _sweeps(self, design: Design, reading: str) -> Sweeps:
        if design.sentences < 100:
            return self.small
        if reading == ADDED:
            return self.large_again
        return self.few_topics if design.topics == 2 else self.many_topics


FULL = Size(
    documents=600,
    trained=500,
    numbers=tuple(range(1, 13)),
    starts=20,
    small=Sweeps(1000, 100, 10),
    few_topics=Sweeps(250, 100, 5),
    many_topics=Sweeps(100, 100, 2),
    large_again=Sweeps(100, 50, 2),
    nips_documents=None,
    nips_topics=100,
    nips_starts=4,
    nips_steps=60,
    lda_passes=37,
)
QUICK = Size(
    documents=250,
    trained=200,
    numbers=(1, 3, 4, 7),
    starts=10,
    small=Sweeps(200, 50, 4),
    few_topics=Sweeps(50, 50, 2),
    many_topics=Sweeps(50, 50, 2),
    large_again=Sweeps(20, 20, 1),
    nips_documents=150,
    nips_topics=20,
    nips_starts=2,
    nips_steps=20,
    lda_passes=8,
)
