// A plan as layers from left to right, each task at a place of its own: Sugiyama, Tagawa and Toda (1981), of whose steps the
// layers are given and only the order inside of each is sought, by the middle of what a task waits for.

/**
 * `tasks`: { id, depends_on }; `order`: layers of ids. Returns { places: Map of id → { x, y }, width, height }.
 */
export function layers(tasks, order, { width = 200, height = 62, across = 72, between = 18 } = {}) {
  const byId = new Map(tasks.map((task) => [task.id, task])), row = new Map();
  const sorted = order.map((ids) => ids.filter((id) => byId.has(id)));
  sorted.forEach((ids) => {
    const middle = new Map(ids.map((id, index) => {
      const before = byId.get(id).depends_on.map((each) => row.get(each)).filter((each) => each !== undefined);
      return [id, before.length ? before.reduce((sum, each) => sum + each, 0) / before.length : index];
    }));
    ids.sort((a, b) => middle.get(a) - middle.get(b));
    ids.forEach((id, index) => row.set(id, index - (ids.length - 1) / 2));
  });
  const most = Math.max(1, ...sorted.map((ids) => ids.length)), tall = most * (height + between) - between, places = new Map();
  sorted.forEach((ids, layer) => {
    const top = (tall - (ids.length * (height + between) - between)) / 2;
    ids.forEach((id, index) => places.set(id, { x: layer * (width + across), y: top + index * (height + between), layer, index }));
  });
  return { places, order: sorted, width: Math.max(0, sorted.length * (width + across) - across), height: tall };
}
