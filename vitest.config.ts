import { defineConfig } from 'vitest/config'

/** Scenarios that measure sound, pictures, loads or rates: no other file beside them, which would tear the one and add to the other. */
const alone = [
  ...['bad-network', 'busy', 'codecs', 'detect', 'door', 'endpoints', 'inbound', 'outbound', 'outside-audio'],
  ...['overload', 'phones', 'recordings', 'rtp-stream', 'transfer', 'turn', 'handlers-ivr', 'handlers-rooms'],
  ...['browser-moves', 'browser-video', 'browsers-and-phone', 'browsers-and-phone-push', 'firefox'],
  ...['own-sdk-video', 'published-sdk', 'push', 'sdk-versions-video', 'several-pages', 'softphone'],
  'softphone-push',
].map((name) => `test/scenarios/${name}.test.ts`)
alone.push('test/webrtc/*.test.ts')

const scenario = (name: string) => ({ name, testTimeout: 120_000, hookTimeout: 120_000 })

/**
 * Three projects: `unit` lies beside the code and needs nothing; `scenarios` and `audio` place real calls with real peers, with two files at once and
 * with one.
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{gateway,handlers,media,config,client,console,realtime,react,scripts}/**/*.test.ts'],
          exclude: ['**/node_modules/**'],
          // Files share the processes: no module keeps anything of its own, and starting a process for each file takes half of the time.
          isolate: false,
          // Many of them wait for sockets: a third keeps two cores busy meanwhile.
          maxWorkers: 3,
          globalSetup: 'gateway/directory/testing-postgres.ts',
          // Bounds for a machine that is busy with something else; no test waits for them.
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          ...scenario('scenarios'),
          include: ['test/**/*.test.ts'],
          exclude: alone,
          maxWorkers: 2,
        },
      },
      { test: { ...scenario('audio'), include: alone, fileParallelism: false } },
    ],
  },
})
