// A drawing by Cytoscape, which fills its place and has the colours of the theme.

import cytoscape from "./vendor/cytoscape.js";

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
