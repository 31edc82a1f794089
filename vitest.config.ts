import { defineConfig } from 'vitest/config'

/** Two projects: `unit` lies beside the code and needs nothing; `scenarios` places real calls with real peers. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{gateway,handlers,media,config,client,console,realtime,scripts}/**/*.test.ts'],
          exclude: ['**/node_modules/**'],
          // Files share two processes: no module keeps anything of its own, and starting a process for each file takes half of the time.
          isolate: false,
          maxWorkers: 2,
          // Bounds for a machine that is busy with something else; no test waits for them.
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'scenarios',
          include: ['test/**/*.test.ts'],
          // Real sockets, real browsers and two cores: one file at a time.
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
