import { defineConfig } from 'vitest/config'

/** Two projects: `unit` lies beside the code and needs nothing; `scenarios` places real calls with real peers. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{gateway,handlers,media,config,client,console,scripts}/**/*.test.ts'],
          exclude: ['**/node_modules/**'],
        },
      },
      {
        test: {
          name: 'scenarios',
          include: ['test/**/*.test.ts'],
          // Real sockets, real browsers and two cores: one file at a time.
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
