"""
A routed filter in a network of spd_learn
=========================================

Two lines are changed. SPDNet has one BiMap for everybody. ``DaspBiMap`` takes its place and gives
each trial its own filter, which depends on the trial and on
whose trial it is. Everything else stays spd_learn's. This example needs PyTorch and spd_learn.
"""

import torch
from spd_learn.modules import BiMap, LogEig, ReEig
from torch import nn

import stiefel
from stiefel.torch import DaspBiMap, RiemannianAdam

FILTERS = 8


class SPDNet(nn.Module):
    """As with spd_learn alone."""

    def __init__(self, channels, classes, people):
        super().__init__()
        self.bimap = BiMap(channels, FILTERS)
        self.reeig, self.logeig = ReEig(1e-4), LogEig()
        self.classifier = nn.Linear(FILTERS * (FILTERS + 1) // 2, classes)

    def forward(self, X, domain):
        return self.classifier(self.logeig(self.reeig(self.bimap(X))))


class RoutedSPDNet(nn.Module):
    """The same with two lines changed."""

    def __init__(self, channels, classes, people):
        super().__init__()
        self.bimap = DaspBiMap(
            channels, FILTERS, n_experts=4, n_domains=people
        )  # was BiMap(channels, FILTERS)
        self.reeig, self.logeig = ReEig(1e-4), LogEig()
        self.classifier = nn.Linear(FILTERS * (FILTERS + 1) // 2, classes)

    def forward(self, X, domain):
        return self.classifier(self.logeig(self.reeig(self.bimap(X, domain))))  # was self.bimap(X)


def main():
    torch.manual_seed(0)
    data = stiefel.load_synthetic("BNCI2015001", subjects=4, trials_per_class=40, random_state=0)
    classes, people = sorted(set(data.y)), sorted(set(data.domains))
    train = torch.arange(len(data)) % 4 != 0
    whitening = stiefel.DomainWhitening().fit(data[train.numpy()])
    x = torch.from_numpy(whitening.transform(data)).float()
    y = torch.tensor([classes.index(label) for label in data.y])
    domain = torch.tensor([people.index(name) for name in data.domains])
    for kind in (SPDNet, RoutedSPDNet):
        net = kind(x.shape[1], len(classes), len(people))
        # spd_learn's own parameters move as under torch.optim.Adam; the experts move along the
        # manifold.
        optimiser = RiemannianAdam(net.parameters(), lr=0.01)
        for _ in range(8):
            for batch in torch.randperm(int(train.sum())).split(32):
                rows = train.nonzero()[batch, 0]
                loss = nn.functional.cross_entropy(net(x[rows], domain[rows]), y[rows])
                if isinstance(net.bimap, DaspBiMap):
                    loss = loss + net.bimap.auxiliary_loss()
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
        with torch.no_grad():
            right = net(x[~train], domain[~train]).argmax(1) == y[~train]
        print(
            f"{kind.__name__}: {right.float().mean():.3f} of {int((~train).sum())} held-out trials right"
        )
    print(
        "weights of the experts of the last trial:",
        net.bimap.last_routing[-1].numpy().round(2).tolist(),
    )


if __name__ == "__main__":
    main()
