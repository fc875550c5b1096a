// All subgroups as points: people across, score upwards; a rectangle drawn over them chooses rows.

import { useEffect, useRef } from "preact/hooks";
import type { Points } from "./api";
import { count } from "./parts";
import { visible } from "./visible";

export interface Brush {
  people: [number, number];
  gap: [number, number];
}

const HEIGHT = 300;
const EDGE = { left: 46, right: 14, top: 22, bottom: 30 };

interface Scale {
  x(people: number): number;
  y(gap: number): number;
  people(x: number): number;
  gap(y: number): number;
  /** The greatest finite score, with a little room. */
  most: number;
  /** Where infinite scores stand: beyond the finite ones, with room to the edge. */
  infinite: number;
  /** Which sides have infinite scores: the second group's, the first's. */
  ends: [boolean, boolean];
  signed: boolean;
}

function scale(points: Points, width: number, groups: number): Scale {
  let least = Infinity;
  let greatest = 1;
  for (const people of points.people) {
    least = Math.min(least, people);
    greatest = Math.max(greatest, people);
  }
  const low = Math.log10(Math.max(1, Math.min(least, greatest))) - 0.05;
  const high = Math.max(low + 0.1, Math.log10(greatest) + 0.05);
  let most = 0;
  let signed = false;
  const ends: [boolean, boolean] = [false, false];
  points.gap.forEach((gap, place) => {
    if (gap === null) {
      ends[points.against[place] === 1 && groups === 2 ? 0 : 1] = true;
      return;
    }
    most = Math.max(most, Math.abs(gap));
    signed ||= gap < 0;
  });
  signed ||= ends[0];
  most = (most || 1) * 1.08;
  const infinite = most * 1.08;
  const [lowest, highest] = [signed ? -most * (ends[0] ? 1.16 : 1) : 0, most * (ends[1] ? 1.16 : 1)];
  const right = width - EDGE.right;
  const bottom = HEIGHT - EDGE.bottom;
  return {
    x: (people) => EDGE.left + ((Math.log10(people) - low) / (high - low)) * (right - EDGE.left),
    y: (gap) => bottom - ((gap - lowest) / (highest - lowest)) * (bottom - EDGE.top),
    people: (x) => 10 ** (low + ((x - EDGE.left) / (right - EDGE.left)) * (high - low)),
    gap: (y) => lowest + ((bottom - y) / (bottom - EDGE.top)) * (highest - lowest),
    most,
    infinite,
    ends,
    signed,
  };
}

export function Scatter({ points, brush, groups, onBrush }: {
  points: Points;
  brush: Brush | null;
  groups: string[];
  onBrush(brush: Brush | null): void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawing = useRef<{ scale: Scale } | null>(null);

  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const draw = () => {
      drawing.current = { scale: paint(element, points, groups) };
      if (brush) outline(element, drawing.current.scale, brush);
    };
    draw();
    const sized = new ResizeObserver(draw);
    sized.observe(element);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", draw);
    return () => {
      sized.disconnect();
      dark.removeEventListener("change", draw);
    };
  }, [points, brush, groups]);

  const start = (event: PointerEvent) => {
    const element = canvas.current;
    const drawn = drawing.current;
    if (!element || !drawn) return;
    element.setPointerCapture(event.pointerId);
    // A slider draws the plot many times a second; it is kept only when a rectangle is drawn over it, without an old one.
    paint(element, points, groups);
    const context = element.getContext("2d", { willReadFrequently: true });
    const image = context?.getImageData(0, 0, element.width, element.height);
    const box = element.getBoundingClientRect();
    const from: [number, number] = [event.clientX - box.left, event.clientY - box.top];
    const chosen = (at: PointerEvent): Brush | null => {
      const to: [number, number] = [at.clientX - box.left, at.clientY - box.top];
      if (Math.abs(to[0] - from[0]) < 4 && Math.abs(to[1] - from[1]) < 4) return null;
      const rising = (a: number, b: number): [number, number] => (a < b ? [a, b] : [b, a]);
      return {
        people: rising(drawn.scale.people(from[0]), drawn.scale.people(to[0])),
        gap: beyond(rising(drawn.scale.gap(from[1]), drawn.scale.gap(to[1])), drawn.scale),
      };
    };
    const move = (at: PointerEvent) => {
      if (context && image) context.putImageData(image, 0, 0);
      const over = chosen(at);
      if (over) outline(element, drawn.scale, over);
    };
    const end = (at: PointerEvent) => {
      element.removeEventListener("pointermove", move);
      element.removeEventListener("pointerup", end);
      element.removeEventListener("pointercancel", end);
      // A finger that scrolls the page chooses nothing.
      if (at.type === "pointerup") onBrush(chosen(at));
      else if (context && image) context.putImageData(image, 0, 0);
    };
    element.addEventListener("pointermove", move);
    element.addEventListener("pointerup", end);
    element.addEventListener("pointercancel", end);
  };

  return (
    <canvas
      ref={canvas}
      class="scatter"
      height={HEIGHT}
      role="img"
      aria-label={`${points.people.length} subgroups by people and score. The fields beside it choose by numbers.`}
      onPointerDown={start}
    />
  );
}

/** Infinite scores are drawn beyond the others: a rectangle that reaches there takes them in. */
function beyond([low, high]: [number, number], { most, signed }: Scale): [number, number] {
  return [signed && low <= -most ? -Infinity : low, high >= most ? Infinity : high];
}

function paint(element: HTMLCanvasElement, points: Points, groups: string[]): Scale {
  const density = devicePixelRatio || 1;
  const width = element.clientWidth || 600;
  // Setting a size, even the same, takes new memory for the picture.
  const [across, down] = [Math.round(width * density), Math.round(HEIGHT * density)];
  if (element.width !== across) element.width = across;
  if (element.height !== down) element.height = down;
  const scaled = scale(points, width, groups.length);
  const context = element.getContext("2d", { willReadFrequently: true });
  if (!context) return scaled;
  context.setTransform(density, 0, 0, density, 0, 0);
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name).trim() || "#888";
  const faint = colour("--faint");
  const colours = groups.map((_, g) => colour(`--g${g % 6}`));
  dots(context, points, scaled, [faint, ...colours], density);
  context.globalCompositeOperation = "destination-over";
  axes(context, scaled, width, colour, groups);
  context.globalCompositeOperation = "source-over";
  return scaled;
}

/** A dot for each subgroup on nothing. Written as pixels: a slider draws thousands of them many times a second. */
function dots(context: CanvasRenderingContext2D, points: Points, scaled: Scale, colours: string[], density: number) {
  const { width, height } = context.canvas;
  const picture = context.createImageData(width, height);
  const pixels = new Uint32Array(picture.data.buffer);
  const paints = colours.map(pixel);
  // Few dots are large, so that each is seen.
  const size = Math.round(Math.max(2.4, Math.min(6, 60 / Math.sqrt(points.people.length))) * density);
  // What passes is drawn last, over the rest.
  for (const passing of [false, true]) {
    for (let place = 0; place < points.people.length; place += 1) {
      const passes = points.passes[place];
      if ((passes === 1) !== passing) continue;
      const against = points.against[place] ?? -1;
      const side = scaled.signed && against === 1 ? -scaled.infinite : scaled.infinite;
      const left = Math.round(scaled.x(points.people[place] ?? 1) * density - size / 2);
      const top = Math.round(scaled.y(points.gap[place] ?? side) * density - size / 2);
      const paint = (against < 0 || passes === 0 ? paints[0] : paints[against + 1]) ?? 0;
      if (left < 0 || left + size > width) continue;
      const last = Math.min(height, top + size);
      for (let y = Math.max(0, top); y < last; y += 1) {
        for (let at = y * width + left; at < y * width + left + size; at += 1) pixels[at] = paint;
      }
    }
  }
  context.putImageData(picture, 0, 0);
}

const known = new Map<string, number>();

/** A colour as it lies in a picture. */
function pixel(colour: string): number {
  let value = known.get(colour);
  if (value === undefined) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 1;
    const context = canvas.getContext("2d", { willReadFrequently: true });
    if (!context) return 0xff888888;
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    value = new Uint32Array(context.getImageData(0, 0, 1, 1).data.buffer)[0] ?? 0;
    known.set(colour, value);
  }
  return value;
}

function axes(context: CanvasRenderingContext2D, scaled: Scale, width: number, colour: (name: string) => string, groups: string[]) {
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = colour("--soft");
  context.strokeStyle = colour("--line");
  context.lineWidth = 1;
  const bottom = HEIGHT - EDGE.bottom;
  context.textAlign = "center";
  for (let power = 0; power < 9; power += 1) {
    for (const step of [1, 3]) {
      const people = step * 10 ** power;
      const x = scaled.x(people);
      if (x < EDGE.left || x > width - EDGE.right) continue;
      context.beginPath();
      context.moveTo(x, EDGE.top);
      context.lineTo(x, bottom);
      context.stroke();
      context.fillText(count(people), x, bottom + 15);
    }
  }
  context.textAlign = "right";
  const ends = scaled.signed ? [-1, -0.5, 0, 0.5, 1] : [0, 0.5, 1];
  for (const part of ends) {
    const gap = (scaled.most / 1.08) * part;
    const y = scaled.y(gap);
    context.beginPath();
    context.moveTo(EDGE.left, y);
    context.lineTo(width - EDGE.right, y);
    context.stroke();
    context.fillText(String(Number(Math.abs(gap).toPrecision(2))), EDGE.left - 6, y + 4);
  }
  scaled.ends.forEach((there, side) => {
    if (there) context.fillText("∞", EDGE.left - 6, scaled.y(side === 0 ? -scaled.infinite : scaled.infinite) + 4);
  });
  context.textAlign = "left";
  const [up = "", down = ""] = groups.map(visible);
  context.fillText(scaled.signed ? `score: against ${up} ↑, against ${down} ↓` : "score", EDGE.left, 12);
  context.textAlign = "right";
  context.fillText("people", width - EDGE.right, HEIGHT - 2);
}

function outline(element: HTMLCanvasElement, scaled: Scale, brush: Brush) {
  const context = element.getContext("2d", { willReadFrequently: true });
  if (!context) return;
  const lowest = scaled.signed ? -scaled.most * (scaled.ends[0] ? 1.16 : 1) : 0;
  const clamp = (gap: number) => Math.max(lowest, Math.min(scaled.most * (scaled.ends[1] ? 1.16 : 1), gap));
  const [left, right] = brush.people.map((people) => scaled.x(Math.max(1, people))) as [number, number];
  const [low, high] = brush.gap.map((gap) => scaled.y(clamp(gap))) as [number, number];
  context.strokeStyle = getComputedStyle(element).getPropertyValue("--ink").trim() || "#000";
  context.lineWidth = 1.5;
  context.strokeRect(left, high, right - left, low - high);
}
