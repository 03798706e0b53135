// LangGraph.js: the agent is a graph of two nodes, plan and call; a Call is a Send of its own. With durability "sync" a
// checkpoint of every channel that changed is written after each superstep before the next begins, and the result of each
// Call as it comes.
import { END, DeltaValue, ReducedValue, Send, START, StateGraph, StateSchema } from '@langchain/langgraph';
import { z } from 'zod';

import { ask, pathOf, perform, ready } from './agent.mjs';

const values = z.record(z.string(), z.unknown()).default(() => ({}));

// The State's channel: rewritten whole in each checkpoint, or kept as what was written, with a snapshot now and then.
const whole = () => new ReducedValue(values, { inputSchema: z.record(z.string(), z.unknown()), reducer: (all, one) => ({ ...all, ...one }) });
const delta = () => new DeltaValue(values, { inputSchema: z.record(z.string(), z.unknown()), reducer: (all, some) => Object.assign({}, all, ...some) });

const schema = (state) => new StateSchema({
  url: z.string(),
  once: z.boolean().default(false),
  state,
  calls: z.array(z.any()).default(() => []),
  output: z.any(),
  ended: z.boolean().default(false),
});

// plan asks the LLM, once all Calls of its last answer are done.
async function plan({ url, once, state, calls }) {
  if (ready(calls, state).length > 0) return {};
  if (once && calls.length > 0) return { ended: true };
  const solution = await ask(url, state);
  return { calls: solution.calls, output: solution.output, ended: solution.calls.length === 0 };
}

const call = async (one) => ({ state: { [pathOf(one)]: await perform(one) } });

const route = ({ ended, calls, state }) => (ended ? END : ready(calls, state).map((one) => new Send('call', one)));

export function agent(checkpointer, state = whole()) {
  return new StateGraph(schema(state))
    .addNode('plan', plan)
    .addNode('call', call)
    .addEdge(START, 'plan')
    .addConditionalEdges('plan', route, ['call', END])
    .addEdge('call', 'plan')
    .compile({ checkpointer });
}

// runner gives what the works run: a thread for each run.
export const runner = (graph) => async (id, input) => {
  const config = { configurable: { thread_id: id }, durability: 'sync', recursionLimit: 10_000 };
  const { output, state } = await graph.invoke(input, config);
  return { output, done: Object.keys(state).length };
};

export { delta };
