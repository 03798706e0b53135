// What the peers run on: programs, ports, folders and a PostgreSQL of the comparison's own.
import { spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, globSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';

// Nothing outlives the comparison: no program, and no folder.
const running = new Map();
const folders = [];
process.on('exit', () => {
  running.forEach((signal, child) => child.kill(signal));
  folders.forEach((dir) => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

// program starts a program; stop ends it and waits for it. What it says is shown if it ends by itself.
export function program(name, args, { signal = 'SIGTERM', ...options } = {}) {
  const child = spawn(name, args, { stdio: ['pipe', 'pipe', 'pipe'], ...options });
  let said = '';
  let stopping = false;
  const keep = (data) => { said = (said + data).slice(-8000); };
  child.stderr.on('data', keep);
  child.stdout.on('data', keep);
  running.set(child, signal === 'SIGTERM' ? 'SIGKILL' : signal);
  const over = new Promise((done) => child.once('exit', (code) => {
    running.delete(child);
    if (!stopping) console.error(`${name} ended with ${code}:\n${said}`);
    done();
  }));
  child.once('error', (error) => console.error(`${name}: ${error.message}`));
  return { child, stop: () => { stopping = true; child.kill(signal); return over; } };
}

// until asks until it works, for a minute at most.
export async function until(what, ask) {
  let last;
  for (const end = Date.now() + 60_000; Date.now() < end; await new Promise((done) => setTimeout(done, 50))) {
    try {
      if (await ask()) return;
    } catch (error) {
      last = error;
    }
  }
  throw new Error(`it never came to it that ${what}: ${last?.message ?? 'it said no'}`);
}

export function freePort() {
  return new Promise((done, failed) => {
    const server = createServer().once('error', failed).listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

// folderBytes adds up the files below a folder.
export function folderBytes(dir) {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const sizes = files.map((file) => statSync(path.join(file.parentPath, file.name), { throwIfNoEntry: false })?.size ?? 0);
  return sizes.reduce((sum, size) => sum + size, 0);
}

// tempFolder is a folder that is removed at the end.
export function tempFolder() {
  folders.push(mkdtempSync(path.join(tmpdir(), 'peers-')));
  return folders.at(-1);
}

function postgresProgram(name) {
  const found = [...(process.env.PATH ?? '').split(':').map((dir) => path.join(dir, name)), ...globSync(`/usr/lib/postgresql/*/bin/${name}`).reverse()];
  return found.find((file) => existsSync(file));
}

// unprivileged is who PostgreSQL runs as, where this is root: it refuses to be run by root.
function unprivileged() {
  if (process.getuid() !== 0) return {};
  const id = (flag) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout || 65534);
  return { uid: id('-u'), gid: id('-g') };
}

// startPostgres runs a PostgreSQL with its own defaults, fsync included, in a new folder. Without its programs it is null.
export async function startPostgres() {
  const [initdb, postgres] = ['initdb', 'postgres'].map(postgresProgram);
  if (!initdb || !postgres) return null;
  const who = unprivileged();
  const dir = tempFolder();
  if (who.uid !== undefined) chownSync(dir, who.uid, who.gid);
  const made = spawnSync(initdb, ['--auth=trust', '--username=peers', dir], { cwd: '/', encoding: 'utf8', ...who });
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
  const port = await freePort();
  const server = program(postgres, ['-D', dir, '-h', '127.0.0.1', '-p', `${port}`, '-k', dir], { cwd: '/', signal: 'SIGINT', ...who });
  const url = (name) => `postgresql://peers@127.0.0.1:${port}/${name}`;
  await until('PostgreSQL answers', async () => (await query(url('postgres'), 'SELECT 1')).length === 1);
  const [{ server_version: version }] = await query(url('postgres'), 'SHOW server_version');
  return {
    version,
    create: async (name) => {
      await query(url('postgres'), `CREATE DATABASE ${name}`);
      return url(name);
    },
    stop: server.stop,
  };
}

async function query(connectionString, sql) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

// databaseAt is a database as the peers use it: its address and its size, indices included.
export const databaseAt = (url) => url && {
  url,
  bytes: async () => Number((await query(url, 'SELECT pg_database_size(current_database()) AS size'))[0].size),
};
