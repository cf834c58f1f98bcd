"""Spin models from sizes and arrays."""

import itertools

import numpy as np
import pytest

import kilochain as k
from conftest import means_agree

RUN = dict(sampler="gibbs", chains=16, warmup=50, draws=2000, progress=False)


def exact_energy(J, beta):
    """E[-sum_{i<j} J_ij S_i S_j] by all states."""
    S = np.array(list(itertools.product([-1, 1], repeat=len(J))))
    energy = -0.5 * np.einsum("ki,ij,kj->k", S, J, S)
    weight = np.exp(-beta * (energy - energy.min()))
    return (weight * energy).sum() / weight.sum()


def test_a_glass_from_a_matrix_has_its_law():
    J = np.triu(np.random.default_rng(3).normal(size=(6, 6)), 1)
    J[:, 5] = 0  # a free spin
    J += J.T
    tree = k.sample(k.SpinGlass(J, beta=0.7), **RUN)
    means_agree(tree, "energy", [exact_energy(J, 0.7)])
    i, j = np.triu_indices(6, 1)
    again = k.sample(k.SpinGlass((i, j, J[i, j]), beta=0.7), **RUN)
    means_agree(again, "energy", [exact_energy(J, 0.7)])


def test_a_lattice_from_its_size_or_with_couplings():
    ring = np.roll(np.eye(5), 1, axis=0) + np.roll(np.eye(5), -1, axis=0)
    plain = k.sample(k.Ising(5, beta=0.5), **RUN)
    means_agree(plain, "energy", [exact_energy(ring, 0.5)])
    edges = np.arange(5), (np.arange(5) + 1) % 5, np.ones(5)
    of_edges = k.sample(k.Ising((5,), edges, beta=0.5), **RUN)
    assert (of_edges["posterior"]["energy"].values == plain["posterior"]["energy"].values).all()
    up = k.sample(k.Ising((4, 4), hamming=4), **{**RUN, "sampler": "intracluster"})
    assert (up["posterior"]["magnetization"] == (4 - 12) / 16).all()


def test_couplings_that_are_none():
    with pytest.raises(k.DataError, match=r"no couplings \(an array of shape \(2, 3\)\)"):
        k.SpinGlass(np.zeros((2, 3)))
    with pytest.raises(k.DataError, match="couplings [0-9]+>: an edge is none of the lattice's"):
        k.sample(k.Ising(5, ([0], [2], [1.0])), **RUN)
    with pytest.raises(k.UsageError, match="size = 0x5"):
        k.sample(k.Ising((0, 5)), **RUN)
