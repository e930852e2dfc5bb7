// Small drawings in one stroke width, on a grid of 16.

import { svg } from "../dom.js";

const PATHS = {
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM10.8 10.8 14 14",
  graph: "M4 6a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM12 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM5 14a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM5.7 4.9l4.5 2.2M6.7 11.2l3.5-2.2",
  map: "M2.5 2.5h11v11h-11ZM8.5 2.5v11M8.5 8h5M2.5 9.5h6",
  memory: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.8V8l2.2 1.6",
  tools: "M2.5 4.5h3v3h-3ZM10.5 2.5h3v3h-3ZM10.5 10.5h3v3h-3ZM5.5 6h2.5V4h2.5M8 6v6h2.5",
  index: "M3 3.5c0-.8 2.2-1.5 5-1.5s5 .7 5 1.5S10.8 5 8 5 3 4.3 3 3.5ZM3 3.5v9c0 .8 2.2 1.5 5 1.5s5-.7 5-1.5v-9M3 8c0 .8 2.2 1.5 5 1.5S13 8.8 13 8",
  settings: "M2 4.5h6M12 4.5h2M10 6.3a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6ZM2 11.5h2M8 11.5h6M6 13.3a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6Z",
  theme: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 2v12",
  json: "M6 2.5c-1.5 0-2 .7-2 2v1.7C4 7.3 3.4 8 2.5 8c.9 0 1.5.7 1.5 1.8v1.7c0 1.3.5 2 2 2M10 2.5c1.5 0 2 .7 2 2v1.7c0 1.1.6 1.8 1.5 1.8-.9 0-1.5.7-1.5 1.8v1.7c0 1.3-.5 2-2 2",
  help: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM6.2 6.3C6.2 5.2 7 4.6 8 4.6s1.8.7 1.8 1.6c0 1.2-1.8 1.4-1.8 2.6M8 11.2v.2",
};

export const icon = (name) => svg("svg", { class: "icon", viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }, svg("path", { d: PATHS[name] }));
