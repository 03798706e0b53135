// Plain Node: the agent's loop with nothing durable. It tells what of a peer's figures is the language's and the client's.
import { ask, pathOf, perform, ready } from './agent.mjs';

export const about = 'plain Node, nothing durable';
export const keeps = 'nothing';

async function agent({ url, once }) {
  const state = {};
  for (;;) {
    const { calls, output } = await ask(url, state);
    if (calls.length === 0) return { output, done: Object.keys(state).length };
    for (let layer = ready(calls, state); layer.length > 0; layer = ready(calls, state)) {
      const results = await Promise.all(layer.map(perform));
      layer.forEach((call, i) => { state[pathOf(call)] = results[i]; });
    }
    if (once) return { output, done: Object.keys(state).length };
  }
}

export async function open() {
  return { run: (id, input) => agent(input), bytes: async () => 0, close: async () => {} };
}
