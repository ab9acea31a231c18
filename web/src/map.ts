// The map: places, routes with numbered stops and arrows. Without tiles the background is plain.

import L from "leaflet";
import "leaflet/dist/leaflet.css";
import type { Limits } from "./api";
import type { Plan } from "./outcome";
import { visitedBy } from "./outcome";
import { terminals, type Place, type Problem } from "./problem";
import { number } from "./words";

export const COLOURS = 6; // routes beyond take the colours again

export interface MapEvents {
  readonly pick: (id: number) => void;
  readonly add: (x: number, y: number) => void;
  readonly move: (id: number, x: number, y: number) => void;
}

export class PlaceMap {
  private map: L.Map | null = null;
  private geographic = true;
  private tiles: Limits["tiles"] = null;
  private fitted: Problem | null = null; // what the map was fitted to, until somebody moves it
  private readonly routes = L.layerGroup();
  private readonly places = L.layerGroup();
  adding = false;

  constructor(
    private readonly box: HTMLElement,
    private readonly events: MapEvents,
  ) {
    new ResizeObserver(() => {
      this.map?.invalidateSize({ pan: false });
      if (this.fitted) this.fit(this.fitted);
    }).observe(box);
    for (const kind of ["pointerdown", "wheel", "keydown"]) box.addEventListener(kind, () => (this.fitted = null), { capture: true, passive: true });
  }

  setTiles(tiles: Limits["tiles"]): void {
    this.tiles = tiles;
    this.remove();
  }

  setAdding(adding: boolean): void {
    this.adding = adding;
    this.box.classList.toggle("adding", adding);
  }

  show(problem: Problem, plan: Plan | null, stale: boolean, chosen: number | null): void {
    const fresh = this.map === null || this.geographic !== problem.geographic;
    if (fresh) this.create(problem);
    this.places.clearLayers();
    this.routes.clearLayers();
    this.box.classList.toggle("stale", stale);
    const visited = plan ? visitedBy(plan) : new Set<number>();
    const ends = terminals(problem);
    const most = Math.max(1e-9, ...problem.places.map((place) => place.prize));
    const size = Math.max(0.5, Math.min(1, Math.sqrt(150 / Math.max(1, problem.places.length))));
    const byId = new Map(problem.places.map((place) => [place.id, place]));
    if (plan) plan.routes.forEach((route, index) => this.drawRoute(route.stops.flatMap((stop) => byId.get(stop.place) ?? []), index % COLOURS));
    for (const place of problem.places) {
      if (!visited.has(place.id) && !ends.has(place.id)) this.drawOut(place, size * (4 + 5 * Math.sqrt(place.prize / most)));
    }
    if (plan) plan.routes.forEach((route, index) => this.drawStops(route.stops.flatMap((stop) => byId.get(stop.place) ?? []), index % COLOURS, ends));
    for (const id of ends) {
      const place = byId.get(id);
      if (place) this.drawEnd(place);
    }
    const picked = chosen === null ? undefined : byId.get(chosen);
    if (picked) this.drawChosen(picked);
    if (fresh) this.fit(problem);
  }

  fit(problem: Problem): void {
    const spots = problem.places.flatMap((place) => this.spot(place) ?? []);
    if (!this.map) return;
    this.fitted = problem;
    if (spots.length) this.map.fitBounds(L.latLngBounds(spots).pad(0.06), { animate: false, maxZoom: this.geographic ? 17 : 20 });
    else if (this.geographic) this.map.setView([48, 11], 4, { animate: false });
    else this.map.fitBounds([[0, 0], [1000, 1000]], { animate: false });
  }

  centre(): { x: number; y: number } {
    const at = this.map?.getCenter() ?? L.latLng(0, 0);
    return { x: at.lng, y: at.lat };
  }

  lookAt(place: Place): void {
    const spot = this.spot(place);
    if (spot && this.map && !this.map.getBounds().pad(-0.1).contains(spot)) this.map.panTo(spot);
  }

  // Forgets the map, so that the next `show` makes one anew and fits it to the places.
  remove(): void {
    this.map?.remove();
    this.map = null;
  }

  private create(problem: Problem): void {
    this.remove();
    this.geographic = problem.geographic;
    const map = L.map(this.box, {
      crs: problem.geographic ? L.CRS.EPSG3857 : L.CRS.Simple,
      minZoom: problem.geographic ? 1 : -16,
      maxZoom: problem.geographic ? 19 : 24,
      zoomSnap: 0.25,
      zoomDelta: 0.5,
      attributionControl: false,
      fadeAnimation: false,
      markerZoomAnimation: true,
    });
    this.map = map;
    const withTiles = problem.geographic && this.tiles !== null;
    this.box.classList.toggle("plain", !withTiles);
    const credit = L.control.attribution({ prefix: '<a href="https://leafletjs.com" rel="noreferrer">Leaflet</a>' }).addTo(map);
    if (withTiles && this.tiles) L.tileLayer(this.tiles.url, { attribution: this.tiles.attribution, maxZoom: 19 }).addTo(map);
    else credit.addAttribution("plain map");
    if (problem.geographic) L.control.scale({ imperial: false }).addTo(map);
    map.on("click", (event) => {
      if (this.adding) this.events.add(event.latlng.lng, event.latlng.lat);
    });
    this.routes.addTo(map);
    this.places.addTo(map);
  }

  private spot(place: Place): L.LatLng | null {
    return place.x === null || place.y === null ? null : L.latLng(place.y, place.x);
  }

  private drawOut(place: Place, radius: number): void {
    const spot = this.spot(place);
    if (!spot) return;
    const kind = place.avoid ? "avoid" : place.required ? "required" : "out";
    this.live(L.circleMarker(spot, { radius, className: `place ${kind}`, bubblingMouseEvents: false }), place);
  }

  private drawRoute(places: readonly Place[], colour: number): void {
    const line = places.flatMap((place) => this.spot(place) ?? []);
    L.polyline(line, { className: `leg-edge`, interactive: false }).addTo(this.routes);
    L.polyline(line, { className: `leg route-${colour}`, interactive: false }).addTo(this.routes);
    line.forEach((to, index) => {
      const from = line[index - 1];
      if (from && !from.equals(to)) this.drawArrow(from, to, colour);
    });
  }

  private drawArrow(from: L.LatLng, to: L.LatLng, colour: number): void {
    const map = this.map;
    if (!map) return;
    const [a, b] = [map.project(from), map.project(to)];
    const icon = L.divIcon({ className: `arrow route-${colour}`, iconSize: [12, 12], html: '<svg viewBox="0 0 12 12" aria-hidden="true"><path d="M2 1 L11 6 L2 11 L4.5 6 Z"/></svg>' });
    const arrow = L.marker(map.unproject(a.add(b).divideBy(2)), { icon, interactive: false, keyboard: false }).addTo(this.routes);
    const shape = arrow.getElement()?.firstElementChild as SVGElement | null;
    if (shape) shape.style.transform = `rotate(${Math.atan2(b.y - a.y, b.x - a.x)}rad)`;
  }

  private drawStops(places: readonly Place[], colour: number, ends: ReadonlySet<number>): void {
    places.forEach((place, index) => {
      const spot = this.spot(place);
      if (!spot || ends.has(place.id)) return;
      const icon = L.divIcon({ className: `stop route-${colour}${place.required ? " required" : ""}`, iconSize: [22, 22], html: `<span>${index}</span>` });
      this.live(L.marker(spot, { icon, keyboard: false, zIndexOffset: 500 }), place);
    });
  }

  private drawEnd(place: Place): void {
    const spot = this.spot(place);
    if (!spot) return;
    const icon = L.divIcon({ className: "stop end", iconSize: [26, 26], html: '<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 11 L12 4 L20 11 V20 H14.5 V14.5 H9.5 V20 H4 Z"/></svg>' });
    this.live(L.marker(spot, { icon, keyboard: false, zIndexOffset: 1000 }), place);
  }

  private drawChosen(place: Place): void {
    const spot = this.spot(place);
    if (!spot) return;
    const icon = L.divIcon({ className: "chosen", iconSize: [38, 38], html: "" });
    const ring = L.marker(spot, { icon, keyboard: false, draggable: true, zIndexOffset: 900 }).addTo(this.places);
    ring.on("dragend", () => this.events.move(place.id, ring.getLatLng().lng, ring.getLatLng().lat));
    ring.bindTooltip("Drag to move the place");
  }

  private live(layer: L.CircleMarker | L.Marker, place: Place): void {
    layer.bindTooltip(label(place), { direction: "top", offset: [0, -8] });
    layer.on("click", () => this.events.pick(place.id));
    layer.addTo(this.places);
  }
}

// A node, not HTML: names are anybody's text.
function label(place: Place): HTMLElement {
  const box = document.createElement("span");
  box.textContent = `${place.name} · ${number(place.prize)}`;
  return box;
}
