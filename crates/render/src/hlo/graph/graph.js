// The page about one instruction: what is known about the chosen one, below the graph around it.
const { strings, nodes: records } = JSON.parse(el('data').textContent);
const nodes = readNodes(records, number => strings[number]);
const graph = makeGraph(nodes, isNarrow ? 1 : 2, describe);

function describe() {
  const { at, steps, drawn } = graph.state, it = nodes[at];
  el('summary').textContent = it.heading;
  const roles = [...new Set([...drawn.places.keys()].map(id => nodes[id].role).filter(Boolean))].sort();
  const legend = roles.map(role => node('span', {}, node('i', { class: role }), ' ' + role));
  if ([...drawn.places.keys()].some(id => nodes[id].inside)) legend.push(node('span', {}, '▸ a fusion, which opens'));
  el('legend').replaceChildren(...legend);
  el('selected').replaceChildren(...it.facts.flatMap(([name, value]) => [node('dt', {}, name), node('dd', {}, value)]));
  remember({ at: '%' + it.name, steps });
}

// The address may name an instruction and a number of steps.
function openLink() {
  const at = nodes.findIndex(one => '%' + one.name === link.get('at')), steps = Number(link.get('steps'));
  if ([1, 2, 3, 4].includes(steps)) graph.state.steps = steps;
  graph.state.at = Math.max(0, at);
  graph.draw();
  describe();
}
whenLinked.push(openLink);
openLink();
