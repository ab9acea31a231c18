"""The edge-aware graph attention layer of the paper (section "Prize Estimation via Attention Network")."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from orienteer.network.edge_attention import project_edges


class EdgeGraphAttention(nn.Module):
    """Node, edge and global attributes in, one hidden vector a node out.

    For every head m, with c_vk = W^m [x_v | x_k | u_vk | g]:
        alpha_vk = softmax_k LeakyReLU(a^m . c_vk),    h_v = sigmoid(mean_m sum_k alpha_vk c_vk).
    W^m is a row of four blocks, so that a . c_vk is a sum of four scalars, and, the weights alpha adding up to one,
    sum_k alpha_vk c_vk = W1 x_v + W2 sum_k alpha_vk x_k + W3 sum_k alpha_vk u_vk + W4 g: c_vk itself is never built.
    Edges carry two attributes, the cost there and the cost back, which are one where costs are symmetric.
    """

    def __init__(self, node: int, overall: int, hidden: int, heads: int, edge: int = 2):
        super().__init__()
        self.heads, self.hidden = heads, hidden
        self.own = _block(heads, hidden, node)
        self.other = _block(heads, hidden, node)
        self.edge = _block(heads, hidden, edge)
        self.overall = _block(heads, hidden, overall)
        self.score = nn.Parameter(torch.empty(heads, hidden).uniform_(-1, 1) / hidden**0.5)

    def forward(self, nodes: Tensor, edges: Tensor, overall: Tensor) -> Tensor:
        """(state, token, hidden) from (state, token, node), (state, edge + 1, token, token), (state, overall) inputs.

        The last edge attribute is 1 towards padding and 0 elsewhere. Tensors with two token axes keep the type of
        `edges`, which may be bfloat16; the small ones keep that of `nodes`.
        """
        logits = functional.leaky_relu(self._logits(nodes, edges, overall))
        weights = torch.softmax(logits, dim=3)  # (state, head, token, token)
        around = weights @ nodes[:, None].to(weights.dtype)  # (state, head, token, node)
        along = torch.stack(
            [(weights * edges[:, None, kind]).sum(3) for kind in range(self.edge.shape[2])], dim=3
        )  # (state, head, token, edge)
        total = nodes @ (self.own.mean(0).T)  # (state, token, hidden)
        total = total + _average(around.to(nodes.dtype), self.other) + _average(along.to(nodes.dtype), self.edge)
        return torch.sigmoid(total + (overall @ self.overall.mean(0).T)[:, None])

    def _logits(self, nodes: Tensor, edges: Tensor, overall: Tensor) -> Tensor:
        """(state, head, token, token) a . c_vk, from the four blocks' shares."""
        own = nodes @ torch.einsum("mh,mhi->im", self.score, self.own)  # (state, token, head)
        other = nodes @ torch.einsum("mh,mhi->im", self.score, self.other)
        shared = overall @ torch.einsum("mh,mhi->im", self.score, self.overall)  # (state, head)
        edge = torch.einsum("mh,mhi->mi", self.score, self.edge)  # (head, edge)
        source = (own + shared[:, None]).transpose(1, 2)[:, :, :, None].to(edges.dtype)
        target = other.transpose(1, 2)[:, :, None, :].to(edges.dtype)
        return project_edges(edge, edges) + source + target


def _average(values: Tensor, block: Tensor) -> Tensor:
    """(state, token, hidden) mean over heads of each head's block times its (state, head, token, input) values."""
    states, heads, width, inputs = values.shape
    flat = values.transpose(1, 2).reshape(states, width, heads * inputs)
    weight = block.permute(0, 2, 1).reshape(heads * inputs, -1) / heads
    return flat @ weight


def _block(heads: int, hidden: int, inputs: int) -> nn.Parameter:
    return nn.Parameter(torch.empty(heads, hidden, inputs).uniform_(-1, 1) / inputs**0.5)
