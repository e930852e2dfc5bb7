// Where nodes stand so that what is joined stands together: Fruchterman and Reingold (1991). All push each other away, edges
// pull, everything is drawn a little towards the middle, and the steps grow shorter. The start is a spiral, so that the same
// graph is drawn the same way every time. Left out: Barnes and Hut's tree, which would pay from a few thousand nodes on.

const GOLDEN = 2.399963;  // radians: the angle of a sunflower's seeds, so that no two of the spiral stand close
const STEPS = 260;

/**
 * Give every node `x` and `y`, in units of which `size` is about the drawing's width.
 * `edges`: { source, target }, the nodes themselves. `centred(node)`: whether it is to begin in the middle.
 */
export function settle(nodes, edges, { size = 620, steps = STEPS, pull = 0.5, centred = () => false } = {}) {
  const ideal = size / Math.sqrt(nodes.length + 4);
  nodes.forEach((node, i) => {
    const far = centred(node) ? i * 4 : ideal * Math.sqrt(i + 1);
    node.x = far * Math.cos(i * GOLDEN);
    node.y = far * Math.sin(i * GOLDEN);
  });
  for (let step = 0; step < steps; step += 1) {
    forces(nodes, edges, ideal, pull);
    const most = ideal * (1 - step / steps);
    for (const node of nodes) {
      const length = Math.hypot(node.dx, node.dy) || 1, share = Math.min(length, most) / length;
      node.x += node.dx * share;
      node.y += node.dy * share;
    }
  }
}

function forces(nodes, edges, ideal, pull) {
  for (const node of nodes) {
    const home = 0.12 * Math.hypot(node.x, node.y) / ideal;
    node.dx = -node.x * home;
    node.dy = -node.y * home;
  }
  for (let i = 0; i < nodes.length; i += 1) {
    for (let j = i + 1; j < nodes.length; j += 1) {
      const a = nodes[i], b = nodes[j], x = a.x - b.x || 0.1, y = a.y - b.y || 0.1, push = ideal * ideal / (x * x + y * y);
      a.dx += x * push;
      a.dy += y * push;
      b.dx -= x * push;
      b.dy -= y * push;
    }
  }
  for (const { source: a, target: b } of edges) {
    const x = a.x - b.x, y = a.y - b.y, share = Math.hypot(x, y) / ideal * pull;
    a.dx -= x * share;
    a.dy -= y * share;
    b.dx += x * share;
    b.dy += y * share;
  }
}
