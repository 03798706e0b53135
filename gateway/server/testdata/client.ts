// Uses the gateway by the client that was generated from its description, and prints what came of it.
import { createClient } from './gen/client';
import { blameValue, compareIdeas, decide, followProcess, getResult, listIdeas, listProcessApprovals, startProcess } from './gen';
import type { StartBody } from './gen';

const [, , baseUrl, token, start] = process.argv as [string, string, string, string, string];
const client = createClient({ baseUrl, auth: () => token });
const body = JSON.parse(start) as StartBody;
const id = body.id!;

/** Follows the process until done says so, and gives the id of the last event that came. */
async function follow(after: string | undefined, done: (event: string | undefined, data: any) => boolean): Promise<string | undefined> {
  const leave = new AbortController();
  let last = after;
  let over = false;
  const { stream } = await followProcess({
    client, path: { id }, signal: leave.signal, sseMaxRetryAttempts: 3, headers: after === undefined ? {} : { 'Last-Event-ID': after },
    onSseEvent: e => {
      last = e.id ?? last;
      if (!over && done(e.event, e.data)) { over = true; leave.abort(); }
    },
  });
  for await (const _ of stream) if (over) break;
  return last;
}

async function main(): Promise<void> {
  const first = await startProcess({ client, body });
  const second = await startProcess({ client, body });
  console.log('started', first.response?.status, 'attached', second.data?.attached);

  let kinds = new Set<string>();
  const seen = await follow(undefined, (event, data) => { kinds.add(event!); return event === 'status' && data.awaiting === 2; });
  console.log('it waits', kinds.has('status'));

  const { data: waiting } = await listProcessApprovals({ client, path: { id } });
  const decisions = waiting!.approvals!.map(a => ({
    process: a.process, call: a.call, digest: a.digest, ...(a.params.text === 'a very long text of one' ? { decision: 'approve' as const } : { decision: 'reject' as const, reason: 'too long' }),
  }));
  const { data: decided } = await decide({ client, body: { decisions } });
  console.log('decided', decided!.results.map(r => r.outcome).join(' '));

  const ideas: number[] = [];
  await follow(seen, (event, data) => { if (event === 'idea') ideas.push(data.at); return event === 'ended'; });
  console.log('each Idea once', new Set(ideas).size === ideas.length && ideas.length > 0);

  const { data: result } = await getResult({ client, path: { id }, query: { wait: 60 } });
  console.log(result!.status, result!.calls.done, 'done', result!.calls.rejected, 'rejected');
  const { data: chain } = await listIdeas({ client, path: { id } });
  const { data: diff } = await compareIdeas({ client, path: { id }, query: { from: 1, to: chain!.ideas!.length } });
  const { data: blame } = await blameValue({ client, path: { id }, query: { place: '①:noted' } });
  console.log('chain', chain!.ideas!.length > 1, 'diff', diff !== undefined, 'blame', JSON.stringify(blame).includes('1.1@①'));

  const { error } = await getResult({ client, path: { id: 'nobody' } });
  console.log('problem', error!.status, error!.code);
}

main().catch(e => { console.error(e); process.exit(1); });
