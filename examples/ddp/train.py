"""Trains a small network on several processes with DistributedDataParallel.

Each process reads RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT from its environment, where
`dist.ddp` sets them. The data is synthetic, so nothing is downloaded; gloo needs no GPU.
"""

import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def make_data(samples: int, seed: int) -> TensorDataset:
    """Returns noisy points of a smooth function, the same in every process."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.rand(samples, 2, generator=generator) * 2 - 1
    y = torch.sin(3 * x[:, :1]) + x[:, 1:] ** 2
    noise = 0.05 * torch.randn(y.shape, generator=generator)
    return TensorDataset(x, y + noise)


def mean_over_ranks(value: float) -> float:
    """Returns the mean of a number that differs from process to process."""
    total = torch.tensor([value])
    dist.all_reduce(total)
    return total.item() / dist.get_world_size()


def train(model: nn.Module, data: TensorDataset, epochs: int, seed: int) -> list:
    """Trains the model and returns the loss of every epoch, averaged over all processes."""
    # Each process sees its own part of the data; DistributedDataParallel averages the gradients.
    sampler = DistributedSampler(data, seed=seed)
    loader = DataLoader(data, batch_size=16, sampler=sampler)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    loss_function = nn.MSELoss()
    losses = []
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = loss_function(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(mean_over_ranks(total / len(loader)))
        if dist.get_rank() == 0:
            print(f"epoch {epoch + 1}/{epochs} loss {losses[-1]:.4f}", flush=True)
    return losses


def check_equal(model: nn.Module) -> None:
    """Raises unless all processes have ended with the same parameters."""
    mine = torch.cat([p.detach().flatten() for p in model.parameters()])
    first = mine.clone()
    dist.broadcast(first, src=0)
    if not torch.equal(mine, first):
        raise AssertionError(f"rank {dist.get_rank()} has other parameters than rank 0")


def main() -> None:
    """Joins the other processes, trains, and checks the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--samples", type=int, default=2048)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    print(f"rank {rank} of {world} is ready", flush=True)

    model = DistributedDataParallel(nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1)))
    losses = train(model, make_data(args.samples, args.seed), args.epochs, args.seed)
    check_equal(model)
    if not losses[-1] < losses[0] / 2:
        raise AssertionError(f"the loss has not halved: {losses[0]:.4f} to {losses[-1]:.4f}")
    if rank == 0:
        print(f"trained on {world} processes: loss {losses[0]:.4f} to {losses[-1]:.4f}", flush=True)
    # All ranks exit together: without this barrier, torch 1.13 with gloo hung at the end.
    dist.barrier()
    del model
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
