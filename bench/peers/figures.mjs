// Figures in the shape of `go run ./bench --json`, and the table of them.
import { quantile } from './works.mjs';

// notOffered is what of the works no peer offers. It is said, and not built for them.
export const notOffered = [
  { work: 'diamond-one-request', name: 'time', unit: 's', at: 8,
    why: 'an output cannot refer to results that are not there yet, so it takes a second Request' },
  { work: 'stream', name: 'closing byte to tool, median', unit: 'ms', at: 20,
    why: 'an answer is kept when it is whole: no Call of it runs durably before' },
  { work: 'batch', name: 'one Request for all instances', unit: 's', at: 100,
    why: 'a run is one task with Requests of its own; there are no instances in a Request, nor a Call for all' },
];

// inOurs names the figures of the project's that a figure is the sum of, where it has another name there.
const inOurs = {
  'fanout: time, each Call durable': ['end of stream to all done, as activities'],
  'batch: one Request for all instances': ['time'],
  'chain: bytes kept': ['bytes: store folder', 'bytes: database file'],
};

function spreadOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return { p10: quantile(sorted, 0.1), median: quantile(sorted, 0.5), p90: quantile(sorted, 0.9), samples: values.length };
}

// figuresOf sums up the samples of all rounds, {peer, work, name, unit, axis, at, values}; each beside plain Node.
export function figuresOf(samples) {
  const groups = new Map();
  for (const { values, ...figure } of samples) {
    const key = JSON.stringify(figure);
    groups.set(key, [...(groups.get(key) ?? []), ...values]);
  }
  const figures = [...groups].map(([key, values]) => ({ ...JSON.parse(key), ours: spreadOf(values) }));
  for (const figure of figures.filter(({ peer }) => peer !== 'plain')) {
    const plain = figures.find((other) => other.peer === 'plain' && same(other, figure));
    if (plain?.ours.median > 0) Object.assign(figure, { plain: plain.ours, ratio: figure.ours.median / plain.ours.median });
  }
  return figures;
}

const same = (a, b) => a.work === b.work && a.name === b.name && a.at === b.at;

// table is Markdown: a line for each figure, a column for each peer, and the project's own figures where there are some.
export function table(figures, peers, ours = []) {
  const lines = [];
  for (const { work, name, unit, at } of figures) {
    if (lines.some((line) => same(line, { work, name, at }))) continue;
    const cells = peers.map((peer) => cell(figures.find((f) => f.peer === peer && same(f, { work, name, at }))?.ours));
    lines.push({ work, name, at, unit, cells: [...cells, ...besides({ work, name, at }, ours)] });
  }
  for (const { work, name, unit, at } of notOffered) {
    const cells = peers.map((peer) => (peer === 'plain' ? '' : 'not offered'));
    lines.push({ work, name, unit, cells: [...cells, ...besides({ work, name, at }, ours)] });
  }
  const head = ['work', 'figure', 'unit', ...peers, ...(ours.length ? ['Process Idea', 'plain Go'] : [])];
  const rows = lines.map(({ work, name, unit, cells }) => [work, name, unit, ...cells]);
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function besides({ work, name, at }, ours) {
  if (ours.length === 0) return [];
  if (work === 'batch' && name === 'time') return ['', '']; // the project's is one Request for all
  const names = inOurs[`${work}: ${name}`] ?? [name];
  const mine = ours.filter((f) => f.work === work && f.at === at && names.includes(f.name));
  return [cell(sum(mine.map((f) => f.ours))), cell(mine[0]?.plain)];
}

const sum = (spreads) => spreads.length > 0
  ? Object.fromEntries(['p10', 'median', 'p90'].map((part) => [part, spreads.reduce((all, one) => all + one[part], 0)]))
  : undefined;

// cell is the median with the tenth and the ninetieth percentile.
function cell(spread) {
  if (!spread) return '';
  const [p10, median, p90] = [spread.p10, spread.median, spread.p90].map(number);
  return p10 === p90 ? median : `${median} (${p10}–${p90})`;
}

// number is short where it is large, and exact enough where it is small.
function number(value) {
  if (value >= 1000 || Number.isInteger(value)) return value.toFixed(0);
  if (value >= 10) return value.toFixed(1);
  return value >= 0.1 ? value.toFixed(2) : value.toPrecision(2);
}
