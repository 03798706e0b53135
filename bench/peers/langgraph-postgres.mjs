// LangGraph.js with its checkpointer for PostgreSQL.
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';

import { agent, runner } from './langgraph.mjs';

export const about = 'LangGraph.js on PostgreSQL';
export const keeps = 'a checkpoint of the changed channels after each superstep, and the writes of each node';
export const needsPostgres = true;

export async function open({ database }, state) {
  const saver = PostgresSaver.fromConnString(database.url);
  await saver.setup();
  return { run: runner(agent(saver, state)), bytes: () => database.bytes(), close: () => saver.end() };
}
