/* Small functions that draw: elements, scales, paths. No library: a chart here is a few hundred
 * rectangles, and a reader can follow every line of it. Texts become text nodes, never markup. */

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children.flat(9)) {
    if (child === undefined || child === null || child === false || child === '') continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/* Round steps for an axis from 0 to at least `max`: [0, 20000, 40000, ...]. */
export function ticks(max, count = 5) {
  if (!(max > 0)) return [0];
  const rough = max / count,
    power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map(f => f * power).find(s => s >= rough) || 10 * power;
  const out = [];
  for (let t = 0; t < max + step * 0.001; t += step) out.push(Math.round(t * 1e6) / 1e6);
  if (out[out.length - 1] < max) out.push(out[out.length - 1] + step);
  return out;
}

/* From [a, b] to [c, d]. */
export function scale(a, b, c, d) {
  const k = b === a ? 0 : (d - c) / (b - a);
  return v => c + (v - a) * k;
}

const at = n => Math.round(n * 100) / 100;

/* The outline of bars without gaps between two lists of heights, `low` and `high`. */
export function stepArea(low, high, x, y) {
  if (!high.length) return '';
  let path = `M${at(x(0))},${at(y(high[0]))}`;
  for (let i = 0; i < high.length; i++) path += `V${at(y(high[i]))}H${at(x(i + 1))}`;
  for (let i = low.length - 1; i >= 0; i--) path += `V${at(y(low[i]))}H${at(x(i))}`;
  return path + 'Z';
}

/* The top edge of such bars. */
export function stepLine(values, x, y) {
  let path = '';
  values.forEach((v, i) => {
    path += `${i ? 'V' : `M${at(x(0))},`}${at(y(v))}H${at(x(i + 1))}`;
  });
  return path;
}

/* One list on another: for each layer the heights below and above it. */
export function stack(layers) {
  const low = new Array(layers[0] ? layers[0].length : 0).fill(0);
  return layers.map(values => {
    const from = low.slice();
    values.forEach((v, i) => {
      low[i] += v;
    });
    return [from, low.slice()];
  });
}

/* Labels that would cover one another go to rows above; those that find none have row -1. */
export function placeFlags(flags, rows, gap = 6) {
  const ends = new Array(rows).fill(-Infinity);
  return flags.map(f => {
    const row = ends.findIndex(end => f.from >= end + gap);
    if (row >= 0) ends[row] = f.to;
    return { ...f, row };
  });
}

/* How the size of prompts went: what came as a pale area, what was sent in front of it. */
export function spark(came, sent, width = 120, height = 28) {
  const n = came.length;
  if (!n) return svg('svg', { class: 'spark', width, height, 'aria-hidden': 'true' });
  const x = scale(0, n, 0, width),
    y = scale(0, Math.max(...came, 1), height, 1);
  const zero = new Array(n).fill(0);
  return svg(
    'svg',
    { class: 'spark', width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' },
    svg('path', { class: 'spark-came', d: stepArea(zero, came, x, y) }),
    svg('path', { class: 'spark-sent', d: stepArea(zero, sent, x, y) }),
  );
}

/* Draws again when the place it stands in has another width. */
export function responsive(className, draw) {
  const box = el('div', { class: className });
  let last = 0;
  const redraw = () => {
    const width = Math.floor(box.clientWidth);
    if (width && Math.abs(width - last) > 1) {
      last = width;
      box.replaceChildren(draw(width));
    }
  };
  new ResizeObserver(redraw).observe(box);
  box.redraw = () => {
    last = 0;
    redraw();
  };
  return box;
}

/* The steps of an axis: a line across the chart for each, with its value before it. */
export function gridLines(steps, y, left, right, say) {
  return steps.map(t =>
    svg(
      'g',
      null,
      svg('line', { class: 'grid', x1: left, x2: right, y1: y(t), y2: y(t) }),
      svg('text', { class: 'axis', x: left - 8, y: y(t) + 4, 'text-anchor': 'end' }, say(t)),
    ),
  );
}

/* How high an axis must go for most values to be seen: a few that are far above all others do not
 * press those together. They are drawn to the top, and their value stands there in words. */
export function usualMax(values) {
  const sorted = values.filter(v => v > 0).sort((a, b) => a - b),
    n = sorted.length,
    most = n ? sorted[n - 1] : 0;
  if (n < 4) return most;
  const usual = sorted[Math.min(n - 2, Math.floor(n * 0.9))];
  return most > 3 * usual ? usual * 1.3 : most;
}
