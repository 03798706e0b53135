// Decides and cancels with Temporal's own client for Node.js, and nothing else: node plain.js ADDRESS NAMESPACE PROCESS
const { Client, Connection } = require('@temporalio/client');

async function main([address, namespace, process]) {
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace });
  const whole = client.workflow.getHandle(process), one = client.workflow.getHandle(process + '/13');
  const ask = async (handle, query, holds) => {
    for (;;) {
      const answer = await handle.query(query);
      if (holds(answer)) return answer;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  const { approvals } = await ask(whole, 'approvals', (a) => a.approvals.length === 4);
  const find = (token) => approvals.find((a) => a.instance === token);
  const own = await one.query('approvals');
  console.log('of the instance:', own.approvals[0].call, own.state.to);

  await one.signal('approve', { call: '1.1@13', digest: find('⑬').digest, by: 'nora' });
  await ask(one, 'status', (s) => s.calls[0].status === 'done');
  await whole.signal('decide', {
    id: 'many', by: 'nora',
    decisions: [
      { call: find('a b/é').call, digest: find('a b/é').digest, decision: 'approve' },
      { call: '1.1@2', decision: 'answer', output: 'by hand' },
      { call: '9.9@2', decision: 'approve' },
    ],
  });
  const status = await ask(whole, 'status', (s) => s.awaiting === 1 && s.refused === 1 && s.calls.done === 3);
  console.log('refused:', status.refusals[0].id, status.refusals[0].call);
  const { acts } = await whole.executeUpdate('outcome', { args: [{ ids: ['many', 'many/1', 'many/2', 'many/3'] }] });
  console.log('became:', ...acts.map((a) => a.became));

  await whole.cancel();
  const ended = await whole.result().then((r) => r.status, (e) => e.cause.constructor.name);
  console.log('ended:', ended, (await whole.describe()).status.name);
  await connection.close();
}

main(process.argv.slice(2)).catch((e) => { console.error(e); process.exitCode = 1; });
