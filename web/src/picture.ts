// A picture of the plan, for a PNG file and for paper: places, routes, numbered stops and names, in light colours.

import { byId } from "./dom";
import { COLOURS } from "./map";
import type { Plan } from "./outcome";
import { terminals, type Place, type Problem } from "./problem";
import { cost, number } from "./words";

const WIDTH = 1600;
const HEIGHT = 1200;
const EDGE = 70;

export async function pngOf(problem: Problem, plan: Plan | null): Promise<Blob> {
  const canvas = pictureOf(problem, plan);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The picture could not be drawn."))), "image/png"));
}

export function pictureOf(problem: Problem, plan: Plan | null): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [WIDTH, HEIGHT];
  const pen = canvas.getContext("2d");
  if (!pen) throw new Error("This browser cannot draw a picture.");
  const style = getComputedStyle(byId("paper"));
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  pen.fillStyle = colour("--map");
  pen.fillRect(0, 0, WIDTH, HEIGHT);
  const spot = projection(problem);
  const places = new Map(problem.places.map((place) => [place.id, place]));
  const most = Math.max(1e-9, ...problem.places.map((place) => place.prize));
  pen.lineJoin = "round";
  for (const place of problem.places) {
    const at = spot(place);
    if (at) dot(pen, at, 5 + 6 * Math.sqrt(place.prize / most), colour("--out"));
  }
  plan?.routes.forEach((route, index) => {
    const line = route.stops.map((stop) => spot(places.get(stop.place))).filter((point) => point !== null);
    pen.strokeStyle = pen.fillStyle = colour(`--route-${index % COLOURS}`);
    pen.lineWidth = 5;
    pen.beginPath();
    line.forEach(([x, y], at) => (at ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.stroke();
    line.forEach((to, at) => {
      const from = line[at - 1];
      if (from) arrow(pen, from, to);
    });
  });
  const ends = terminals(problem);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  plan?.routes.forEach((route, index) => {
    route.stops.forEach((stop, at) => {
      const place = places.get(stop.place);
      const point = spot(place);
      if (!point || !place) return;
      dot(pen, point, 16, ends.has(place.id) ? colour("--text") : colour(`--route-${index % COLOURS}`));
      pen.fillStyle = colour("--map");
      pen.font = "bold 17px system-ui, sans-serif";
      if (!ends.has(place.id)) pen.fillText(String(at), point[0], point[1] + 1);
      name(pen, place.name, point, colour("--text"), colour("--map"));
    });
  });
  pen.textAlign = "left";
  pen.fillStyle = colour("--text");
  pen.font = "bold 26px system-ui, sans-serif";
  const sums = plan ? `: prize ${number(plan.prize)}, cost ${cost(plan.cost, problem)}` : "";
  pen.fillText(`${problem.title || "Plan"}${sums}`, 24, 34);
  return canvas;
}

type Point = readonly [number, number];

function projection(problem: Problem): (place: Place | undefined) => Point | null {
  const flat = (place: Place): Point => {
    const y = place.y ?? 0;
    return [place.x ?? 0, problem.geographic ? (Math.log(Math.tan(Math.PI / 4 + (y * Math.PI) / 360)) * 180) / Math.PI : y];
  };
  const points = problem.places.filter((place) => place.x !== null && place.y !== null).map(flat);
  const [xs, ys] = [points.map((point) => point[0]), points.map((point) => point[1])];
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const scale = Math.min((WIDTH - 2 * EDGE) / (right - left || 1), (HEIGHT - 2 * EDGE) / (high - low || 1));
  const [x0, y0] = [(WIDTH - scale * (right - left)) / 2, (HEIGHT - scale * (high - low)) / 2];
  return (place) => {
    if (!place || place.x === null || place.y === null) return null;
    const [x, y] = flat(place);
    return [x0 + scale * (x - left), HEIGHT - y0 - scale * (y - low)];
  };
}

function dot(pen: CanvasRenderingContext2D, [x, y]: Point, radius: number, colour: string): void {
  pen.fillStyle = colour;
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fill();
}

function arrow(pen: CanvasRenderingContext2D, [x1, y1]: Point, [x2, y2]: Point): void {
  if (Math.hypot(x2 - x1, y2 - y1) < 50) return;
  pen.save();
  pen.translate((x1 + x2) / 2, (y1 + y2) / 2);
  pen.rotate(Math.atan2(y2 - y1, x2 - x1));
  pen.beginPath();
  pen.moveTo(14, 0);
  pen.lineTo(-8, 10);
  pen.lineTo(-3, 0);
  pen.lineTo(-8, -10);
  pen.fill();
  pen.restore();
}

function name(pen: CanvasRenderingContext2D, text: string, [x, y]: Point, colour: string, halo: string): void {
  pen.font = "16px system-ui, sans-serif";
  pen.lineWidth = 4;
  pen.strokeStyle = halo;
  pen.strokeText(text, x, y + 28);
  pen.fillStyle = colour;
  pen.fillText(text, x, y + 28);
}
