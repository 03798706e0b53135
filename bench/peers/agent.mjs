// What every peer's agent has in common: how it asks the LLM, the tools, and which Calls of an answer can run. A peer makes
// these durable in its own way, and does nothing else.
import OpenAI from 'openai';

const clients = new Map();

// ask sends the whole State, as agents do, and gives the answer: Calls, and an output.
export async function ask(url, state) {
  if (!clients.has(url)) {
    clients.set(url, new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 }));
  }
  const answer = await clients.get(url).chat.completions.create({
    model: 'scripted',
    messages: [{ role: 'user', content: `Go on.\n${JSON.stringify(state)}` }],
  });
  return JSON.parse(answer.choices[0].message.content);
}

// kilobyte is what the nth Call of a chain gives: 1024 characters that no store makes much smaller, and another for each n.
function kilobyte({ n }) {
  let [text, x] = ['', n >>> 0];
  for (let i = 0; i < 1024; i += 1) {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    text += '0123456789abcdef'[x >>> 28];
  }
  return text;
}

const tools = {
  instant: async ({ n }) => n,
  grow: async (call) => kilobyte(call),
  wait: ({ n }) => new Promise((done) => setTimeout(done, 200, n)),
};

// perform runs a Call.
export const perform = (call) => tools[call._tool](call);

// pathOf is where in State a Call's result goes.
export const pathOf = (call) => call._outputPath ?? `r${call.n}`;

// ready gives the Calls without a result for which everything that they read is there. Those run in parallel; a peer waits
// for all of them before it looks again. In the diamond that loses nothing, because the Calls of a layer take equally long.
export function ready(calls, state) {
  const there = (reference) => reference.replace('†state.', '') in state;
  return calls.filter((call) => !(pathOf(call) in state) && (call.after ?? []).every(there));
}
