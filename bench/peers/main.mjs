// The comparison: every peer in turn, several rounds, medians and spreads as a table and as JSON. run.sh starts it.
//
//   node main.mjs [peer…] [--rounds 3] [--quick] [--llm PROGRAM] [--json FILE] [--beside FILE]
//   node main.mjs --from FILE [--beside FILE]     the table of what an earlier run wrote as JSON
import { fork } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

import { program, startPostgres, tempFolder } from './bed.mjs';
import { notOffered, figuresOf, table } from './figures.mjs';

const all = ['plain', 'langgraph-sqlite', 'langgraph-postgres', 'langgraph-postgres-delta', 'dbos', 'restate'];

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' }, quick: { type: 'boolean', default: false },
    llm: { type: 'string' }, json: { type: 'string' }, beside: { type: 'string' }, from: { type: 'string' },
  },
});
const names = positionals.length > 0 ? positionals : all;
const unknown = names.find((name) => !all.includes(name));
if (unknown) throw new Error(`there is no peer ${unknown}; there are ${all.join(', ')}`);

// startLLM runs the scripted LLM and gives its address, which is the first line that it says.
async function startLLM() {
  const llm = program(options.llm, options.quick ? ['-quick'] : []);
  const url = await new Promise((done, failed) => {
    llm.child.stdout.once('data', (data) => done(`${data}`.trim()));
    llm.child.once('error', failed);
  });
  return { url, stop: llm.stop };
}

// once runs one peer in a process of its own, on stores of its own, with an LLM that has said nothing yet.
async function once(peer, round, { postgres, needsPostgres }) {
  const llm = await startLLM();
  const name = `${peer}_${round}`.replaceAll('-', '_');
  const child = fork(new URL('one.mjs', import.meta.url), {
    env: { ...process.env, RESTATE_LOGGING: 'ERROR' }, stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  try {
    child.send({ peer, dir: tempFolder(), database: needsPostgres ? await postgres.create(name) : '', llm: llm.url, quick: options.quick });
    const told = await new Promise((done, failed) => {
      child.once('message', done);
      child.once('exit', (code) => failed(new Error(`${peer} ended with ${code}`)));
    });
    if (told.error) throw new Error(`${peer}: ${told.error}`);
    return told.samples.map((sample) => ({ peer, ...sample }));
  } finally {
    child.kill();
    await llm.stop();
  }
}

async function compare(postgres) {
  const modules = await Promise.all(names.map(async (name) => ({ name, ...await import(`./${name}.mjs`) })));
  const here = modules.filter(({ needsPostgres }) => postgres || !needsPostgres);
  const missing = modules.filter((peer) => !here.includes(peer)).map(({ name }) => ({ peer: name, why: 'PostgreSQL is not here' }));
  const samples = [];
  for (let round = 1; round <= (options.quick ? 1 : Number(options.rounds)); round += 1) {
    for (const { name, needsPostgres } of here) {
      console.error(`round ${round}: ${name}`);
      samples.push(...await once(name, round, { postgres, needsPostgres }));
    }
  }
  return { samples, here, missing };
}

// versionsOf are the versions of what was installed, as the lock file has them.
function versionsOf() {
  const read = (file) => JSON.parse(readFileSync(new URL(file, import.meta.url)));
  const locked = read('package-lock.json').packages;
  return Object.fromEntries(Object.keys(read('package.json').dependencies).map((name) => [name, locked[`node_modules/${name}`].version]));
}

function reportOf({ samples, here, missing }, postgres) {
  const versions = { node: process.version, postgres: postgres?.version, ...versionsOf() };
  const peers = here.map(({ name, about, keeps }) => ({ peer: name, about, keeps }));
  return { node: process.version, cpus: availableParallelism(), quick: options.quick, versions, peers, missing, notOffered, figures: figuresOf(samples) };
}

function print({ figures, peers, missing }) {
  const ours = options.beside ? JSON.parse(readFileSync(options.beside)).figures : [];
  console.log(`${table(figures, peers.map(({ peer }) => peer), ours)}\n`);
  peers.forEach(({ peer, about, keeps }) => console.log(`- ${peer}: ${about}; keeps ${keeps}`));
  notOffered.forEach(({ work, name, why }) => console.log(`- ${work}, ${name}: no peer offers it: ${why}`));
  missing.forEach(({ peer, why }) => console.log(`- ${peer} was left out: ${why}`));
}

async function measureAll() {
  const postgres = await startPostgres();
  try {
    return reportOf(await compare(postgres), postgres);
  } finally {
    await postgres?.stop();
  }
}

const report = options.from ? JSON.parse(readFileSync(options.from)) : await measureAll();
if (options.json) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
print(report);
process.exit();
