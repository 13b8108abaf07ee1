"""Set partitions of a few items, each written once.

A partition of items 0..n-1 into unnamed blocks is written as a tuple of labels in which the block that
appears first is called 0, the next new block 1, and so on ("restricted growth"): {0, 2}, {1} is (0, 1, 0).
Two label vectors describe the same partition exactly when their canonical tuples are equal, which is how
the states of a sampler, whose topic names mean nothing, are counted
(docs/theory/enumeration.md#sec-visit-frequencies).

There are Bell(n) partitions: 1, 1, 2, 5, 15, 52, 203, 877, ...
"""


def canonical(labels):
    """Rename labels in order of first appearance: canonical("aba") == (0, 1, 0).

    Parameters
    ----------
    labels : sequence of hashables, one per item

    Returns
    -------
    tuple of int
    """
    labels = list(labels)
    name_of_label = {}
    for label in labels:
        if label not in name_of_label:
            name_of_label[label] = len(name_of_label)
    return tuple(name_of_label[label] for label in labels)


def all_partitions(item_count):
    """All set partitions of `item_count` items as canonical tuples, in lexicographic order.

    Item i joins one of the blocks that items 0..i-1 opened, or opens the next block.
    """
    partitions = [()]
    for _ in range(item_count):
        longer = []
        for labels in partitions:
            block_count = len(set(labels))
            for label in range(block_count + 1):
                longer.append((*labels, label))
        partitions = longer
    return partitions


def blocks_of(labels):
    """The blocks of a partition: dictionary label -> list of the items that carry it, in order."""
    blocks = {}
    for item, label in enumerate(labels):
        blocks.setdefault(label, []).append(item)
    return blocks


def bell_number(item_count):
    """Number of set partitions of `item_count` items, by the Bell triangle (exact integer).

    Each row starts with the last entry of the row above; each next entry adds the one above to its left.
    """
    row = [1]
    for _ in range(item_count):
        next_row = [row[-1]]
        for entry in row:
            next_row.append(next_row[-1] + entry)
        row = next_row
    return row[0]
