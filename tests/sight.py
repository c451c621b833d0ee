"""How colours look to colour-blind eyes and in greyscale, for tests of what must be told apart."""

import numpy as np
from matplotlib.colors import to_rgb

GREY = [0.2126, 0.7152, 0.0722]
# Machado, Oliveira & Fernandes (2009), table 1, severity 1.0: on linear RGB.
SIGHTS = {
    "normal": np.eye(3),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
    "greyscale": np.array([GREY, GREY, GREY]),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], GREY, [0.0193, 0.1192, 0.9505]])


def lab(colour, sight):
    """L, a and b (CIE 1976) of a colour as these eyes see it."""
    c = np.array(to_rgb(colour))
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    seen = np.clip(SIGHTS[sight] @ linear, 0, 1)
    xyz = TO_XYZ @ seen / TO_XYZ.sum(1)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def apart(one, other, sight):
    """How far two colours are from each other for these eyes: black and white are 100 apart, 2 can just be seen."""
    return np.linalg.norm(lab(one, sight) - lab(other, sight))
