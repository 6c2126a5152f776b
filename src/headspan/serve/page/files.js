// Files: downloads, and pictures of a drawing.

import { element } from "./drawing.js";

export function save(name, content, type) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const LONGEST_SIDE = 16_000; // pixels that every browser can draw

// A PNG of an SVG, with twice as many pixels unless that is too large, in light colours.
export async function toPng(svg) {
  const address = URL.createObjectURL(new Blob([svg.replace("<svg ", '<svg data-theme="light" ')], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const scale = Math.min(2, LONGEST_SIDE / Math.max(image.naturalWidth, image.naturalHeight));
    const canvas = element("canvas", { width: scale * image.naturalWidth, height: scale * image.naturalHeight });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}
