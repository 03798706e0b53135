// Restate: the agent is a handler of a service, and every Request and every Call is a run block, whose result is in the
// server's replicated log before the handler goes on. State is a local variable: a handler that goes on after a crash runs
// again, and its run blocks give what they gave before.
import * as restate from '@restatedev/restate-sdk';
import * as clients from '@restatedev/restate-sdk-clients';
import { createRequire } from 'node:module';

import { ask, pathOf, perform, ready } from './agent.mjs';
import { folderBytes, freePort, program, until } from './bed.mjs';

export const about = 'Restate, one server';
export const keeps = 'an entry of the journal for each run block';

const agent = restate.service({
  name: 'agent',
  handlers: {
    run: async (ctx, { url, once }) => {
      const state = {};
      for (;;) {
        const { calls, output } = await ctx.run('ask', () => ask(url, state));
        if (calls.length === 0) return { output, done: Object.keys(state).length };
        for (let layer = ready(calls, state); layer.length > 0; layer = ready(calls, state)) {
          const results = await restate.RestatePromise.all(layer.map((call) => ctx.run(call._tool, () => perform(call))));
          layer.forEach((call, i) => { state[pathOf(call)] = results[i]; });
        }
        if (once) return { output, done: Object.keys(state).length };
      }
    },
  },
});

// startServer runs Restate's server as its package brings it, with its own settings but for the ports and the folder.
async function startServer(dir) {
  const require = createRequire(import.meta.url);
  const binary = require.resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`);
  const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()];
  const server = program(binary, ['--no-logo', '--base-dir', dir, '--listen-mode', 'tcp', '--bind-ip', '127.0.0.1', '--bind-port', `${node}`], {
    env: {
      ...process.env,
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_LOG_FILTER: 'error',
    },
  });
  const urls = { ingress: `http://127.0.0.1:${ingress}`, admin: `http://127.0.0.1:${admin}` };
  await until('Restate answers', async () => (await fetch(`${urls.admin}/health`)).ok && (await fetch(`${urls.ingress}/restate/health`)).ok);
  return { ...urls, stop: server.stop };
}

// register tells the server where the service is.
async function register(server, port) {
  const answer = await fetch(`${server.admin}/deployments`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ uri: `http://127.0.0.1:${port}` }),
  });
  if (!answer.ok) throw new Error(`register with Restate: ${answer.status} ${await answer.text()}`);
}

export async function open({ dir }) {
  const server = await startServer(dir);
  const port = await freePort();
  await restate.serve({ services: [agent], port });
  await register(server, port);
  const client = clients.connect({ url: server.ingress }).serviceClient(agent);
  return {
    run: (id, input) => client.run(input, clients.rpc.opts({ idempotencyKey: id })),
    bytes: () => folderBytes(dir),
    close: server.stop,
  };
}
