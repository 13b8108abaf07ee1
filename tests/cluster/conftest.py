"""A Ray cluster of two nodes on this machine, for all tests here that need one."""

import pytest


@pytest.fixture(scope="session")
def cluster():
    """Two nodes of two cores each, that exist only here.

    They are on loopback, but not at 127.0.0.1, for which Ray would take another address of the machine.
    """
    import ray
    from ray.cluster_utils import Cluster

    nodes = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 2, "node_ip_address": "127.0.0.2", "include_dashboard": False},
    )
    nodes.add_node(num_cpus=2, node_ip_address="127.0.0.2")
    nodes.wait_for_nodes()
    ray.init(
        address=nodes.address,
        _node_ip_address="127.0.0.2",
        logging_level="ERROR",
        log_to_driver=False,
        configure_logging=False,
    )
    yield nodes
    ray.shutdown()
    nodes.shutdown()
