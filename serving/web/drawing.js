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
}
