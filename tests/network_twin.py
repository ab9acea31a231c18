"""The graph attention layer as the paper writes it, loop by loop, in double precision."""

import math

import torch
from torch import Tensor

from orienteer.lab.networks.graph_attention import EdgeGraphAttention


def slow_graph_attention(layer: EdgeGraphAttention, nodes: Tensor, edges: Tensor, overall: Tensor) -> list[list[float]]:
    """h_v of one sub-problem: (token, node), (edge, token, token) and (overall,) attributes, all tokens present."""
    count = len(nodes)
    total = [[0.0] * layer.hidden for _ in range(count)]
    for head in range(layer.heads):
        blocks = (layer.own, layer.other, layer.edge, layer.overall)
        matrix = torch.cat([block[head] for block in blocks], dim=1).tolist()  # W, (hidden, all inputs)
        score = layer.score[head].tolist()  # a
        for v in range(count):
            messages, logits = [], []
            for k in range(count):
                joined = [*nodes[v].tolist(), *nodes[k].tolist(), *edges[:, v, k].tolist(), *overall.tolist()]
                message = [sum(w * x for w, x in zip(row, joined, strict=True)) for row in matrix]
                logit = sum(a * c for a, c in zip(score, message, strict=True))
                messages.append(message)
                logits.append(logit if logit > 0 else 0.01 * logit)
            largest = max(logits)
            weights = [math.exp(logit - largest) for logit in logits]
            norm = sum(weights)
            for weight, message in zip(weights, messages, strict=True):
                for place, value in enumerate(message):
                    total[v][place] += weight / norm * value / layer.heads
    return [[1 / (1 + math.exp(-value)) for value in row] for row in total]
