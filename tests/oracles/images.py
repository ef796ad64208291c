"""The maps of images, slowly: patches one by one, gradients pixel by pixel."""

import math
from typing import Any

import numpy as np


def patches(m: Any, image: np.ndarray) -> list[np.ndarray]:
    h, w = image.shape[:2]
    found = []
    for r in range(0, h - m.size + 1, m.stride):
        for c in range(0, w - m.size + 1, m.stride):
            patch = image[r : r + m.size, c : c + m.size]
            if m.flat == "drop" and np.all(patch == patch.flat[0]):
                continue
            if m.centred:
                patch = patch - patch.mean(axis=(0, 1))
            middle = [r + (m.size - 1) / 2 - (h - 1) / 2, c + (m.size - 1) / 2 - (w - 1) / 2]
            found.append(np.concatenate([patch.ravel(), middle]))
    return found


def gradients(m: Any, image: np.ndarray) -> np.ndarray:
    down, right = np.gradient(image)
    found = []
    for level in range(m.levels):
        side = 2**level
        cells = np.zeros((side, side, m.directions))
        for r, c in np.ndindex(*image.shape):
            row, column = (
                max(i for i in range(side) if i * size // side <= at)
                for at, size in zip((r, c), image.shape, strict=True)
            )
            turn = math.atan2(down[r, c], right[r, c]) / (2.0 * math.pi) * m.directions
            share, length = turn - math.floor(turn), math.hypot(down[r, c], right[r, c])
            cells[row, column, math.floor(turn) % m.directions] += (1.0 - share) * length
            cells[row, column, (math.floor(turn) + 1) % m.directions] += share * length
        weight = 2.0 ** (level - m.levels) if level else 2.0 ** (1 - m.levels)
        found.append(weight * cells.ravel())
    total = np.hypot(down, right).sum()
    return np.concatenate(found) / (total if total else 1.0)
