// One peer, once, in a process of its own: main.mjs says which, and hears the samples.
import { databaseAt } from './bed.mjs';
import { measure } from './works.mjs';

process.on('disconnect', () => process.exit(1)); // main.mjs is gone
process.once('message', async ({ peer, dir, database, ...how }) => {
  try {
    const { open, only } = await import(`./${peer}.mjs`);
    const opened = await open({ dir, database: databaseAt(database) });
    const samples = await measure(opened, { ...how, only });
    await opened.close();
    process.send({ samples }, () => process.exit(0));
  } catch (error) {
    process.send({ error: error.stack }, () => process.exit(1));
  }
});
