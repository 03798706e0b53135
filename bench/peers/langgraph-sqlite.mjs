// LangGraph.js with its checkpointer for SQLite.
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';

import { folderBytes } from './bed.mjs';
import { agent, runner } from './langgraph.mjs';

export const about = 'LangGraph.js on SQLite';
export const keeps = 'a checkpoint of the changed channels after each superstep, and the writes of each node';

export async function open({ dir }) {
  const saver = SqliteSaver.fromConnString(`${dir}/checkpoints.db`);
  return {
    run: runner(agent(saver)),
    bytes: () => {
      saver.db.pragma('wal_checkpoint(TRUNCATE)'); // so that nothing counts twice
      return folderBytes(dir);
    },
    close: async () => saver.db.close(),
  };
}
