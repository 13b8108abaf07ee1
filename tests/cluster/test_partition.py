"""How models and initial states are split, and that communicators stay in their process."""

import copy
import pickle

import numpy as np
import pytest

import franchise as fr
from franchise.cluster.partition import can_distribute, cut_arrays, part_of, split_model
from franchise.htmm.htmm_chain import HTMMChain
from franchise.htmm.model import FiniteModel, InfiniteModel
from franchise.htmm.sentence_arrays import Prepared
from franchise.model.state.base import Weights
from franchise.parallel.communicator import SINGLE_PROCESS, Communicator
from franchise.running.chain import Chain
from franchise.running.starts import FromCheckpoint, RandomInit
from franchise.samplers.registry import resolve
from franchise.sampling import make_model
from franchise.storage.chain_store import StoredArrays

CORPUS = fr.synthetic.planted_topics(1, 60, 200, 4, median_length=40).data
SENTENCES = fr.Corpus.from_sentences([[["a", "b"], ["b", "c"]], [["c"]], [["a"], ["a", "c"], ["b"]]] * 20)
GAMMA = fr.Gamma(1.0, 1.0)


def hdp_model():
    return make_model(CORPUS, fr.Categorical(CORPUS.vocabulary_size, 0.1), GAMMA, GAMMA)


def finite_model():
    return FiniteModel(Prepared.of(SENTENCES), 3, 0.5, 0.1, (1.0, 1.0))


MODELS = {"hdp": hdp_model, "htmm": finite_model}


class Counting(Communicator):
    """A communicator that can be told from others."""


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr("franchise.kernels.runtime.blocks.BLOCK_SIZE", 64)


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_communicators_are_neither_pickled_nor_copied(make):
    comm = Counting()
    model = make().with_comm(comm)
    assert model.comm is comm
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert type(other.comm) is Communicator


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_what_is_derived_from_the_data_is_shared(make):
    """By all chains of a model on one actor, each with its own communicator."""
    model = make()
    one, other = model.with_comm(Counting()), model.with_comm(Counting())
    assert one.comm is not other.comm
    assert model.comm is SINGLE_PROCESS
    if isinstance(model, FiniteModel):
        assert one.prepared.sentence_of_place is other.prepared.sentence_of_place
        assert model.prepared.sentence_of_place is one.prepared.sentence_of_place
    else:
        assert one.category_index is other.category_index
        assert model.category_index is one.category_index


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_parts_cover_all_rows_in_order(make):
    model = make()
    parts = split_model(model, [2, 1, 1])
    assert len(parts) == 3
    ends = [0, *(part.span[1] for part in parts)]
    assert [part.span[0] for part in parts] == ends[:-1]
    assert ends[-1] == model.span[1]
    assert all(part.bytes_needed > 0 for part in parts)
    assert split_model(model, [1]) == [model]


def test_which_chains_can_be_distributed():
    model = hdp_model()
    random, seating = RandomInit(3, Weights), FromCheckpoint(StoredArrays({"topic_of_table": np.zeros(3)}), 1)

    def chain(sampler):
        return Chain(model, resolve(sampler, model).schedule, None, 0, 0, 0)

    assert can_distribute(chain("parallel"), random)
    assert not can_distribute(chain("parallel"), seating)
    assert not can_distribute(chain("direct"), random)
    infinite = InfiniteModel(Prepared.of(SENTENCES), GAMMA, GAMMA, 0.1, (1.0, 1.0))
    arrays = FromCheckpoint(StoredArrays({"topics": np.zeros(3)}), 1)
    assert can_distribute(HTMMChain(finite_model(), None, 0, 0, 0), arrays)
    assert not can_distribute(HTMMChain(infinite, None, 0, 0, 0), arrays)


def test_arrays_of_cells_are_cut_with_their_groups():
    arrays = {
        "topic_of_observation": np.arange(6),
        "topic_weights": np.ones(2),
        "customers_of_cell": np.array([2, 1, 1, 2]),
        "tables_of_cell": np.array([1, 1, 1, 2]),
    }
    part = cut_arrays(arrays, 3, 6)
    assert part["topic_of_observation"].tolist() == [3, 4, 5]
    assert part["customers_of_cell"].tolist() == [1, 2]
    assert part["tables_of_cell"].tolist() == [1, 2]
    assert part["topic_weights"] is arrays["topic_weights"]
    random = RandomInit(3, Weights)
    assert part_of(random, 3, 6) is random
