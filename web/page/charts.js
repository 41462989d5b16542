/* Charts of sums: columns over time, bars by name, dots, small lives. The page at /weir/ and the
 * pages that `weir report` and `weir simulate` write into a file draw with the same functions. */
import { el, svg, ticks, scale, stepArea, stepLine, gridLines, usualMax } from './draw.js';
import { responsive } from './draw.js';
import { short, day, plural } from './words.js';
import { LEFT, RIGHT, chip } from './parts.js';

/* ---- columns over time ---- */

/* Stretches of whole hours, as few as fit: each with the sums of `names` of the hours in it. */
export function timeSlots(hours, names, slotsMax) {
  const HOUR = 3600000;
  if (!hours.length) return { slots: [], ms: HOUR };
  const first = hours[0].start_ms,
    count = Math.round((hours[hours.length - 1].start_ms - first) / HOUR) + 1,
    ms = Math.ceil(count / Math.max(1, slotsMax)) * HOUR;
  const slots = Array.from({ length: Math.ceil((count * HOUR) / ms) }, (_, i) => ({
    start_ms: first + i * ms,
    sums: names.map(() => 0),
  }));
  for (const hour of hours) {
    const slot = slots[Math.floor((hour.start_ms - first) / ms)];
    names.forEach((name, i) => {
      slot.sums[i] += name.split('.').reduce((value, key) => value[key], hour) || 0;
    });
  }
  return { slots, ms };
}

/* `series`: [class, name of the sum in an hour]. `stacked`: one on the other, else the second in
 * front of the first. */
function timeChart(width, hours, series, say, stacked) {
  const height = 210,
    bottom = height - 22,
    right = width - RIGHT,
    left = LEFT + 8;
  const { slots, ms } = timeSlots(
    hours,
    series.map(([, name]) => name),
    Math.min(60, Math.floor((right - left) / 12)),
  );
  const heights = slots.map(s =>
    stacked ? s.sums.reduce((a, b) => a + b, 0) : Math.max(...s.sums),
  );
  const usual = usualMax(heights),
    steps = ticks(usual || 1, 4),
    top = steps[steps.length - 1];
  const x = scale(0, slots.length, left, right),
    y = scale(0, top, bottom, 24);
  const wide = Math.min(x(1) - x(0), 60);
  const column = (i, k, from, to) => {
    const share = stacked || k === 0 ? 0.84 : 0.5,
      middle = (x(i) + x(i + 1)) / 2,
      high = y(Math.min(top, to));
    if (to <= from || from >= top) return '';
    return svg(
      'rect',
      {
        class: series[k][0],
        x: middle - (wide * share) / 2,
        y: high,
        width: Math.max(1, wide * share),
        height: Math.max(0.5, y(from) - high),
      },
      svg('title', null, `${day(slots[i].start_ms)}: ${say(slots[i].sums[k])}`),
    );
  };
  let lastLabel = -99;
  return svg(
    'svg',
    { width, height, viewBox: `0 0 ${width} ${height}`, class: 'chart', 'aria-hidden': 'true' },
    gridLines(steps, y, left, right, say),
    slots.map((s, i) => {
      let low = 0;
      return s.sums.map((value, k) => {
        const from = stacked ? low : 0;
        low += value;
        return column(i, k, from, from + value);
      });
    }),
    heights.map((value, i) => {
      const middle = (x(i) + x(i + 1)) / 2;
      if (value <= top || middle - lastLabel < 60) return '';
      lastLabel = middle;
      const at = Math.max(left + 24, Math.min(right - 24, middle));
      return svg(
        'text',
        { class: 'beyond', x: at, y: 14, 'text-anchor': 'middle' },
        say(value) + ' ↑',
      );
    }),
    svg('text', { class: 'axis', x: left, y: height - 4 }, day(slots[0].start_ms)),
    svg(
      'text',
      { class: 'axis', x: right, y: height - 4, 'text-anchor': 'end' },
      day(slots[slots.length - 1].start_ms + ms),
    ),
  );
}

export function overTime(label, hours, series, say, stacked) {
  return el(
    'div',
    { role: 'img', 'aria-label': label },
    responsive('chart-box', width => timeChart(width, hours, series, say, stacked)),
  );
}

/* ---- bars by name ---- */

/* `rows`: {name, chip, is_bad, figures, parts: [[class, value]], mark}. A bar that goes beyond
 * `most` ends in a tear, and its figures say how far it goes. */
export function barList(label, rows, most) {
  const share = value => (100 * Math.min(value, most)) / (most || 1);
  const bar = row => {
    let from = 0;
    const sum = row.parts.reduce((n, [, value]) => n + value, 0);
    return svg(
      'svg',
      { class: 'bar', width: '100%', height: 16, 'aria-hidden': 'true' },
      svg('rect', { class: 'bar-back', x: 0, y: 2, width: '100%', height: 12, rx: 2 }),
      row.parts.map(([name, value]) => {
        const left = share(from),
          right = share(from + value);
        from += value;
        return right > left
          ? svg('rect', {
              class: 'part ' + name,
              x: left + '%',
              y: 2,
              width: right - left + '%',
              height: 12,
            })
          : '';
      }),
      row.mark !== undefined && row.mark <= most
        ? svg('line', {
            class: 'mark',
            x1: share(row.mark) + '%',
            x2: share(row.mark) + '%',
            y1: 0,
            y2: 16,
          })
        : '',
      sum > most * 1.0001
        ? [94, 96].map(x =>
            svg('rect', { class: 'tear', x: x + '%', y: 0, width: '0.8%', height: 16 }),
          )
        : '',
    );
  };
  return el(
    'ul',
    { class: 'bars', 'aria-label': label },
    rows.map(row =>
      el(
        'li',
        { class: row.chip ? 'marked' : null, 'data-name': row.name },
        el('span', { class: 'bar-name' }, row.name, row.chip ? [' ', chip('blue', row.chip)] : ''),
        bar(row),
        el('span', { class: 'bar-figures' + (row.is_bad ? ' bad' : '') }, row.figures),
      ),
    ),
  );
}

/* ---- dots ---- */

/* Labels that would stand on one another go right, left, above or below their dot; one that finds
 * no place is left out, and the dot still says its name. */
export function placeLabels(dots, width, height) {
  const taken = dots.map(d => [d.x - d.r, d.y - d.r, d.x + d.r, d.y + d.r]);
  const meets = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
  return dots.map((d, i) => {
    const w = d.name.length * 6.6 + 2,
      gap = d.r + 3;
    const tries = [
      [d.x + gap, d.y - 7],
      [d.x - gap - w, d.y - 7],
      [d.x - w / 2, d.y - gap - 14],
      [d.x - w / 2, d.y + gap],
      [d.x + gap, d.y - 18],
      [d.x + gap, d.y + 5],
    ];
    const box = tries
      .map(([x, y]) => [x, y, x + w, y + 14])
      .find(
        b =>
          b[0] >= LEFT &&
          b[2] <= width &&
          b[1] >= 0 &&
          b[3] <= height &&
          !taken.some((t, k) => k !== i && meets(b, t)),
      );
    if (box) taken.push(box);
    return { ...d, label: box ? { x: box[0], y: box[1] + 11 } : null };
  });
}

/* `dots`: {name, x, y, class, is_large, is_bold, says}. */
export function scatter(label, dots, axes) {
  const draw = width => {
    const height = 330,
      bottom = height - 44,
      right = width - RIGHT;
    const xs = ticks(Math.max(...dots.map(d => d.x), axes.xMin), width < 560 ? 3 : 5),
      ys = ticks(Math.max(...dots.map(d => d.y), axes.yMin), 5);
    const x = scale(0, xs[xs.length - 1], LEFT, right - 24),
      y = scale(0, ys[ys.length - 1], bottom, 12);
    const placed = placeLabels(
      dots
        .map(d => ({ ...d, x: x(d.x), y: y(d.y), r: d.is_large ? 6 : 3.5 }))
        .sort((a, b) => Boolean(b.is_bold) - Boolean(a.is_bold) || b.r - a.r),
      right,
      bottom,
    );
    return svg(
      'svg',
      { width, height, viewBox: `0 0 ${width} ${height}`, class: 'chart', 'aria-hidden': 'true' },
      gridLines(ys, y, LEFT, right, axes.ySay),
      xs.map(t =>
        svg(
          'text',
          { class: 'axis', x: x(t), y: bottom + 20, 'text-anchor': 'middle' },
          axes.xSay(t),
        ),
      ),
      svg(
        'text',
        { class: 'axis', x: (LEFT + right) / 2, y: height - 6, 'text-anchor': 'middle' },
        axes.xName,
      ),
      placed.map(d => [
        svg('circle', { class: d.class, cx: d.x, cy: d.y, r: d.r }, svg('title', null, d.says)),
        d.label
          ? svg(
              'text',
              { class: d.is_bold ? 'dot bold' : 'dot', x: d.label.x, y: d.label.y },
              d.name,
            )
          : '',
      ]),
    );
  };
  return el('div', { role: 'img', 'aria-label': label }, responsive('chart-box', draw));
}

/* ---- small lives ---- */

/* How a prompt grew, a small chart a policy, all with the same axes. */
export function lives(rows, base, requests) {
  const most = Math.max(...rows.flatMap(r => r.points), 1),
    steps = ticks(most, 2);
  const one = row => width => {
    const height = 110,
      bottom = height - 18,
      right = width - 4,
      left = 40;
    const x = scale(0, row.points.length, left, right),
      y = scale(0, steps[steps.length - 1], bottom, 8);
    return svg(
      'svg',
      { width, height, viewBox: `0 0 ${width} ${height}`, class: 'chart', 'aria-hidden': 'true' },
      gridLines(steps, y, left, right, short),
      svg('path', {
        class: row.isOurs ? 'life ours' : 'life',
        d: stepArea(
          row.points.map(() => 0),
          row.points,
          x,
          y,
        ),
      }),
      base ? svg('path', { class: 'ghost', d: stepLine(base, x, y) }) : '',
      svg('text', { class: 'axis', x: left, y: height - 4 }, '1'),
      svg('text', { class: 'axis', x: right, y: height - 4, 'text-anchor': 'end' }, requests),
    );
  };
  return el(
    'div',
    { class: 'lives' },
    rows.map(row =>
      el(
        'figure',
        { class: row.chip ? 'marked' : null },
        el(
          'figcaption',
          null,
          el('b', null, row.name),
          row.chip ? [' ', chip('blue', row.chip)] : '',
          el('span', { class: 'note' }, ` at most ${short(Math.max(...row.points))} tokens`),
        ),
        el(
          'div',
          {
            role: 'img',
            'aria-label':
              `Prompt size under ${row.name} over ${plural(requests, 'request')}, ` +
              `at most ${short(Math.max(...row.points))} tokens`,
          },
          responsive('chart-box small', one(row)),
        ),
      ),
    ),
  );
}
