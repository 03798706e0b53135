// The works, the same for every peer, and what is measured of each. Times between a reply and the next Request are taken by
// the LLM's server, for all peers by one clock.

const sizes = { chain: [200, 6], fanout: [200, 10], batch: [100, 5] };
const mb = 1 << 20;

// measure runs the works on an open peer and gives samples: {work, name, unit, axis, at, values}.
export async function measure(peer, { llm, quick, only }) {
  const samples = [];
  const note = (work, name, unit, axis, at, ...values) => samples.push({ work, name, unit, axis, at, values });
  const bed = { peer, llm, note, size: (work) => sizes[work][quick ? 1 : 0] };
  await agent(bed, 'chain', 5, 'warm-up'); // the first use of anything in Node is slow, and is not what is compared
  for (const [name, work] of Object.entries(works)) {
    if (!only || only.includes(name)) await work(bed);
  }
  return samples;
}

const works = {
  diamond: (bed) => diamond(bed, 'diamond'),
  'diamond-one-call': (bed) => diamond(bed, 'diamond-one-call'),
  chain,
  fanout,
  batch,
};

// agent runs one agent to its end and gives how long it took, in ms, and the gaps.
async function agent({ peer, llm }, work, size, run = 'run') {
  const url = `${llm}/${work}/${size}/${run}`;
  const begin = performance.now();
  const result = await peer.run(`${work}-${run}`, { url, once: false });
  const took = performance.now() - begin;
  return { ...result, took, ...await (await fetch(`${url}/gaps`)).json() };
}

function expect(what, got, want) {
  if (got !== want) throw new Error(`${what}: ${got}, not ${want}`);
}

async function diamond(bed, work) {
  const { took, done, output, requests } = await agent(bed, work, 8);
  expect(`${work}: Calls done`, done, 8);
  expect(`${work}: Requests`, requests, work === 'diamond' ? 2 : 9);
  expect(`${work}: output`, typeof output?.text, 'string');
  bed.note(work, 'time', 's', 'calls', 8, took / 1000);
}

// chain: a Request for each instant Call, State growing by a kilobyte.
async function chain(bed) {
  const n = bed.size('chain');
  const before = await bed.peer.bytes();
  const { done, requests, gaps } = await agent(bed, 'chain', n);
  expect('chain: Calls done', done, n);
  expect('chain: Requests', requests, n + 1);
  bed.note('chain', 'overhead a step', 'ms', 'requests', n, ...gaps);
  bed.note('chain', 'time', 's', 'requests', n, gaps.reduce((sum, gap) => sum + gap, 0) / 1000);
  bed.note('chain', 'last steps against the 20th', '×', 'requests', n, growth(gaps));
  bed.note('chain', 'bytes kept', 'MB', 'requests', n, (await bed.peer.bytes() - before) / mb);
}

// growth compares the median of the last twenty steps with that of twenty around the twentieth. Short chains have none.
function growth(gaps) {
  return gaps.length < 60 ? 1 : median(gaps.slice(-20)) / median(gaps.slice(10, 30));
}

const median = (values) => quantile([...values].sort((a, b) => a - b), 0.5);

// quantile is the value at a share of sorted values, between two of them where it falls there.
export function quantile(sorted, q) {
  const at = q * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return low + (high - low) * (at - Math.floor(at));
}

// fanout: one Request with independent instant Calls; from its end to the next Request, which comes when all are done.
async function fanout(bed) {
  const n = bed.size('fanout');
  const { done, gaps } = await agent(bed, 'fanout', n);
  expect('fanout: Calls done', done, n);
  bed.note('fanout', 'time, each Call durable', 'ms', 'calls', n, gaps[0]);
}

// batch: an agent for each instance, with one Request and its instant Call, ten at a time.
async function batch(bed) {
  const n = bed.size('batch');
  const url = `${bed.llm}/batch/${n}/run`;
  let begun = 0;
  const begin = performance.now();
  await Promise.all(Array.from({ length: 10 }, async () => {
    while (begun < n) {
      begun += 1;
      const { done } = await bed.peer.run(`batch-${begun}`, { url, once: true });
      expect('batch: Calls done', done, 1);
    }
  }));
  bed.note('batch', 'time', 's', 'instances', n, (performance.now() - begin) / 1000);
  const { requests } = await (await fetch(`${url}/gaps`)).json();
  bed.note('batch', 'requests', '', 'instances', n, requests);
}
