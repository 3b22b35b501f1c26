"""A picture of a world as SVG: shapes seen from the side and a little above, without perspective, shaded by their slope."""
from __future__ import annotations

from typing import Any

import numpy as np

#: More triangles than this are drawn as outlines, one per body.
MOST_TRIANGLES = 4000
COLOURS = ("#4878a8", "#c8783c", "#5a9a5a", "#a85a6e", "#7a6ab0", "#8c7048", "#4a9a9a", "#9a9a4a")


def _outline(points: np.ndarray) -> np.ndarray:
    """The convex hull of points of the plane, counter-clockwise (Andrew's walk along the sorted points)."""
    points = np.unique(points, axis=0)
    if len(points) < 3:
        return points

    def half(walk: np.ndarray) -> list[np.ndarray]:
        hull: list[np.ndarray] = []
        for p in walk:
            while len(hull) >= 2:
                a, b = hull[-1] - hull[-2], p - hull[-1]
                if a[0] * b[1] - a[1] * b[0] > 0:
                    break
                hull.pop()
            hull.append(p)
        return hull

    lower, upper = half(points), half(points[::-1])
    return np.array(lower[:-1] + upper[:-1])


def _shade(colour: str, light: float) -> str:
    return "#" + "".join(f"{min(255, int(int(colour[k:k + 2], 16) * light)):02x}" for k in (1, 3, 5))


def svg(world: Any, width: int = 480, height: int = 360, azimuth: float = 0.6, elevation: float = 0.35) -> str:
    """The world as it stands; angles of the view in rad, from the axis -y and above the ground."""
    ca, sa, ce, se = np.cos(azimuth), np.sin(azimuth), np.cos(elevation), np.sin(elevation)
    right, toward = np.array([ca, sa, 0.0]), np.array([sa * ce, -ca * ce, se])
    view = np.stack([right, np.cross(toward, right), toward])
    solids: list[tuple[str, np.ndarray, np.ndarray, str]] = []
    moving = 0
    for name, fixed, plane, vertices, triangles in world._surfaces():
        if plane or not len(vertices):
            continue
        colour = "#9a9a9a" if fixed else COLOURS[moving % len(COLOURS)]
        moving += not fixed
        solids.append((name, vertices @ view.T, triangles, colour))
    points = [vertices for _, vertices, _, _ in solids]
    centers = np.asarray(world.centers_of_mass) @ view.T
    particles = np.asarray(world.particle_positions) @ view.T
    everything = np.concatenate([*points, centers, particles]) if points or len(centers) or len(particles) else np.zeros((1, 3))
    low, high = everything[:, :2].min(axis=0), everything[:, :2].max(axis=0)
    scale = 0.9 * min(width / max(high[0] - low[0], 1e-9), height / max(high[1] - low[1], 1e-9), 1e6)
    middle = (low + high) / 2

    def place(p: np.ndarray) -> np.ndarray:
        return np.column_stack([width / 2 + scale * (p[:, 0] - middle[0]), height / 2 - scale * (p[:, 1] - middle[1])])

    def polygon(p: np.ndarray, colour: str) -> str:
        listed = " ".join(f"{x:.1f},{y:.1f}" for x, y in p)
        return f'<polygon points="{listed}" fill="{colour}" stroke="{colour}" stroke-width="0.5" stroke-linejoin="round"/>'

    pieces: list[tuple[float, str]] = []
    outlined = sum(len(triangles) for _, _, triangles, _ in solids) > MOST_TRIANGLES
    for _, vertices, triangles, colour in solids:
        flat = place(vertices)
        if outlined:
            pieces.append((float(vertices[:, 2].mean()), polygon(_outline(flat), colour)))
            continue
        corners = vertices[triangles]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        lengths = np.linalg.norm(normals, axis=1)
        for k in np.flatnonzero(normals[:, 2] > 0):  # those that face the viewer
            light = 0.55 + 0.6 * float(normals[k] @ (0.3, 0.8, 0.5)) / float(lengths[k])
            pieces.append((float(corners[k, :, 2].mean()), polygon(flat[triangles[k]], _shade(colour, max(light, 0.3)))))
    drawn = {name for name, _, _, _ in solids}
    dots = [centers[k] for k, name in enumerate(world.body_names) if name not in drawn] + list(particles)
    if dots:
        for (x, y), dot in zip(place(np.array(dots)), dots):
            pieces.append((float(dot[2]), f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="#303030"/>'))
    pieces.sort(key=lambda piece: piece[0])
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
            f'<rect width="100%" height="100%" fill="#fcfcfc"/>{"".join(text for _, text in pieces)}'
            f'<text x="8" y="{height - 8}" font-family="sans-serif" font-size="12" fill="#606060">t = {world.time:.4g} s</text></svg>')
