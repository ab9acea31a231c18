// The card of a place on the map: why it was left out, and what may be done about it.

import { byId, make } from "./dom";
import type { Place } from "./problem";
import { number } from "./words";

export interface CardActions {
  readonly require: (id: number, required: boolean) => void;
  readonly avoid: (id: number, avoid: boolean) => void;
  readonly start: (id: number) => void;
  readonly end: (id: number) => void;
  readonly close: () => void;
}

export interface CardText {
  readonly standing: string;
  readonly lines: readonly string[];
  readonly waiting: boolean;
}

export function showCard(place: Place | null, isEnd: boolean, text: CardText, actions: CardActions): void {
  const card = byId("card");
  card.hidden = place === null;
  if (!place) {
    card.replaceChildren();
    return;
  }
  const facts = [`Prize ${number(place.prize)}`, place.visit && `visit ${place.visit}`, place.hours && `open ${place.hours}`, place.group && `group ${place.group}`].filter(Boolean).join(" · ");
  const button = (label: string, act: () => void, kind = ""): HTMLButtonElement => make("button", { type: "button", textContent: label, className: kind, onclick: act });
  const buttons: HTMLElement[] = [];
  if (!isEnd) {
    buttons.push(button(place.required ? "No longer require it" : "Require it", () => actions.require(place.id, !place.required), place.required ? "" : "primary"));
    buttons.push(button(place.avoid ? "No longer avoid it" : "Avoid it", () => actions.avoid(place.id, !place.avoid)));
    buttons.push(button("Start here", () => actions.start(place.id)), button("End here", () => actions.end(place.id)));
  }
  card.replaceChildren(
    make("button", { type: "button", className: "plain close", textContent: "✕", onclick: actions.close, attrs: { "aria-label": "Close" } }),
    make("h2", { textContent: place.name, id: "card-title", tabIndex: -1 }),
    make("p", { className: "facts", textContent: facts }),
    make("p", { className: "standing", textContent: text.standing }),
    ...text.lines.map((line) => make("p", { className: "why", textContent: line })),
    ...(text.waiting ? [make("p", { className: "why waiting", textContent: "Looking for the reason…" })] : []),
    make("div", { className: "buttons" }, ...buttons),
  );
}
