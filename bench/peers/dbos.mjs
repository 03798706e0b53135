// DBOS: the agent is a workflow, and every Request and every Call is a step, whose result is a row in PostgreSQL before the
// next begins. State is a local variable: a workflow that goes on after a crash runs again, and its steps give what they
// gave before.
import { DBOS } from '@dbos-inc/dbos-sdk';

import { ask, pathOf, perform, ready } from './agent.mjs';

export const about = 'DBOS on PostgreSQL';
export const keeps = 'a row for each step';
export const needsPostgres = true;

async function agent({ url, once }) {
  const state = {};
  for (;;) {
    const { calls, output } = await DBOS.runStep(() => ask(url, state), { name: 'ask' });
    if (calls.length === 0) return { output, done: Object.keys(state).length };
    for (let layer = ready(calls, state); layer.length > 0; layer = ready(calls, state)) {
      const steps = layer.map((call) => DBOS.runStep(() => perform(call), { name: call._tool }));
      const results = await Promise.allSettled(steps);
      layer.forEach((call, i) => {
        if (results[i].status === 'rejected') throw results[i].reason;
        state[pathOf(call)] = results[i].value;
      });
    }
    if (once) return { output, done: Object.keys(state).length };
  }
}

const workflow = DBOS.registerWorkflow(agent, { name: 'agent' });

export async function open({ database }) {
  DBOS.setConfig({ name: 'peers', systemDatabaseUrl: database.url, logLevel: 'error' });
  await DBOS.launch();
  return {
    run: async (id, input) => (await DBOS.startWorkflow(workflow, { workflowID: id })(input)).getResult(),
    bytes: () => database.bytes(),
    close: () => DBOS.shutdown(),
  };
}
