// A tree as rectangles whose areas are its sizes, each as near to a square as can be: Bruls, Huizing and van Wijk,
// "Squarified Treemaps" (2000). Rows are filled along the shorter side for as long as that makes their worst shape better.
//
//   squarify([6, 6, 4, 3, 2, 2, 1].map((size) => ({ size })), { x: 0, y: 0, width: 6, height: 4 })
//   → the example of the paper: two of 3 × 2 on the left, then the others

/** Return the items with `x`, `y`, `width` and `height`. They have to be in order, the largest first, none without a size. */
export function squarify(items, { x, y, width, height }) {
  const placed = [], total = items.reduce((sum, item) => sum + item.size, 0);
  const scale = total ? width * height / total : 0;
  let first = 0;
  while (first < items.length) {
    const side = Math.min(width, height);
    let last = first, sum = 0, worst = Infinity;
    while (last < items.length) {
      const more = sum + items[last].size * scale, largest = items[first].size * scale, least = items[last].size * scale;
      const shape = Math.max(side * side * largest / (more * more), more * more / (side * side * least));
      if (shape > worst) break;
      [worst, sum, last] = [shape, more, last + 1];
    }
    const depth = side ? sum / side : 0, across = width >= height;
    let along = 0;
    for (const item of items.slice(first, last)) {
      const length = depth ? item.size * scale / depth : 0;
      placed.push(across ? { item, x, y: y + along, width: depth, height: length } : { item, x: x + along, y, width: length, height: depth });
      along += length;
    }
    if (across) { x += depth; width -= depth; } else { y += depth; height -= depth; }
    first = last;
  }
  return placed;
}

/** Files as a tree of folders; `size(file)` says how large one is. A folder knows its files' number and sum. */
export function tree(files, size) {
  const root = { name: "", path: "", children: new Map(), size: 0, files: 0, folder: true };
  for (const file of files) {
    const steps = file.path.split("/"), area = Math.max(1, size(file));
    let here = root;
    here.size += area;
    here.files += 1;
    steps.slice(0, -1).forEach((step, depth) => {
      if (!here.children.has(step)) here.children.set(step, { name: step, path: steps.slice(0, depth + 1).join("/"), children: new Map(), size: 0, files: 0, folder: true });
      here = here.children.get(step);
      here.size += area;
      here.files += 1;
    });
    here.children.set(`/${steps.at(-1)}`, { name: steps.at(-1), path: file.path, size: area, files: 1, file });
  }
  return root;
}

/** The folder at a path, or undefined. */
export function at(root, path) {
  return path ? path.split("/").reduce((here, step) => here?.children?.get(step), root) : root;
}

// Folders that hold nothing but one folder are drawn as one: `src/main/java`.
function joined(item) {
  let here = item, name = item.name;
  while (here.folder && here.children.size === 1 && [...here.children.values()][0].folder) {
    [here] = here.children.values();
    name += `/${here.name}`;
  }
  return here === item ? item : { ...here, name };
}

const sorted = (folder) => (folder.sorted ??= [...folder.children.values()].map(joined).sort((a, b) => b.size - a.size || (a.path < b.path ? -1 : 1)));

/**
 * Rectangles to draw inside of one folder, outer ones first, down to `least` pixels, so that their number is bounded by the
 * screen and not by the repository: a folder's cell has what is smaller as `rest`, the first cell that of the folder itself.
 * Folders keep room for their name.
 */
export function cells(folder, box, { least = 4, heading = 16, gap = 1 } = {}) {
  const found = [];
  const inside = (cell, area, depth) => {
    for (const { item, x, y, width, height } of squarify(sorted(cell.item), area)) {
      if (width < least || height < least) { cell.rest.push(item); continue; }
      const inner = { item, x, y, width: width - gap, height: height - gap, depth, rest: [] };
      found.push(inner);
      if (!item.folder) continue;
      inner.named = width > 44 && height > heading + 14;
      const top = inner.named ? heading : 1;
      if (width > 2 * least && height > top + 2 * least) inside(inner, { x: x + 2, y: y + top, width: width - gap - 4, height: height - gap - top - 2 }, depth + 1);
      else inner.rest.push(item);
    }
  };
  const whole = { item: folder, ...box, depth: -1, rest: [] };
  found.push(whole);
  inside(whole, box, 0);
  return found;
}

/** The files of an item, however deep. */
export function* leaves(item) {
  if (item.file) yield item;
  else for (const child of item.children.values()) yield* leaves(child);
}
