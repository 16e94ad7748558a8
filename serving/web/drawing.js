// A drawing by Cytoscape, which fills its place and has the colours of the theme.

import cytoscape from "./vendor/cytoscape.js";
import { colour } from "./dom.js";

export class Drawing {
  /** Draw in `container` by what `style()` gives, at most `zoom` times as large as life. */
  constructor(container, style, zoom, options) {
    Object.assign(this, { container, style, zoom });
    this.cy = cytoscape({ container, style: style(), ...options });
    new ResizeObserver(() => this.fit()).observe(container);
  }

  fit() {
    this.cy.resize();
    this.cy.fit(undefined, 16);
    if (this.cy.zoom() > this.zoom) {
      this.cy.zoom(this.zoom);
      this.cy.center();
    }
  }

  restyle() {
    this.cy.style(this.style());
  }

  /** Move and zoom by keys: arrows, plus, minus, 0 for all of it. */
  listenToKeys() {
    this.container.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: { x: 40, y: 0 }, ArrowRight: { x: -40, y: 0 }, ArrowUp: { x: 0, y: 40 }, ArrowDown: { x: 0, y: -40 } }[event.key];
      const zoom = { "+": 1.25, "-": 0.8 }[event.key];
      if (by) this.cy.panBy(by);
      else if (zoom) this.cy.zoom({ level: this.cy.zoom() * zoom, renderedPosition: { x: this.cy.width() / 2, y: this.cy.height() / 2 } });
      else if (event.key === "0") this.fit();
      else return;
      event.preventDefault();
    });
  }
}

/** A text of so many characters at most, for a label. */
export const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** How nodes and edges look: of some height and size of letters, which are left out where they are below `least`. */
export const baseStyle = (height, size, least) => [
  {
    selector: "node",
    style: {
      shape: "round-rectangle", label: "data(label)", width: "data(width)", height, "font-size": size,
      "text-valign": "center", "background-color": colour("card"), "border-width": 1.5, "border-color": colour("soft"),
      color: colour("ink"), "min-zoomed-font-size": least,
    },
  },
  {
    selector: "edge",
    style: {
      width: 1.5, "curve-style": "bezier", "target-arrow-shape": "triangle", "line-color": colour("soft"),
      "target-arrow-color": colour("soft"), label: "data(label)", "font-size": 11, color: colour("ink"),
      "text-background-color": colour("page"), "text-background-opacity": 0.9, "text-background-padding": 2,
      "min-zoomed-font-size": 8,
    },
  },
];
