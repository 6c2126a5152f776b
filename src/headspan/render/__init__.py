"""Pictures of trees."""

from headspan.render.terminal import draw_spans

__all__ = ["draw_spans"]
