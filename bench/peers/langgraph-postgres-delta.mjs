// LangGraph.js with its checkpointer for PostgreSQL and the State in a DeltaValue, which its authors call beta: a checkpoint
// holds what was written, and the whole only now and then.
import { delta } from './langgraph.mjs';
import * as whole from './langgraph-postgres.mjs';

export const about = 'LangGraph.js on PostgreSQL, State as a DeltaValue (beta)';
export const keeps = 'the writes of each node, and a snapshot of State every hundred of them';
export const needsPostgres = true;
export const only = ['chain'];

export const open = (bed) => whole.open(bed, delta());
