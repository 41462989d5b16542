/* A page in a file: what it shows stands in it as JSON, and nothing is asked of anybody. */
import { el } from './draw.js';
import { reportNode } from './report.js';
import { simulateNode } from './simulate.js';

function showFile() {
  const data = JSON.parse(document.getElementById('data').textContent),
    node = data.view === 'simulate' ? simulateNode(data) : reportNode(data.report);
  document
    .getElementById('main')
    .replaceChildren(
      node,
      el('p', { class: 'note' }, `Written by weir ${data.version} with \`weir ${data.view}\`.`),
    );
}

showFile();
