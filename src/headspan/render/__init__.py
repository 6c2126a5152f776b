"""Pictures of trees."""

from headspan.render.outline import draw_tree
from headspan.render.terminal import draw_spans

__all__ = ["draw_spans", "draw_tree"]
