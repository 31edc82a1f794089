import { basename } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const files = (...names: readonly string[]): string[] => names.map((name) => `test/scenarios/${name}.test.ts`)

/** Scenarios that measure sound, pictures, loads or rates: no other file beside them, which would tear the one and add to the other. */
const alone = [
  ...files('bad-network', 'browser-and-carriers', 'busy', 'overload', 'phones', 'recordings', 'turn'),
  ...files('browsers-and-phone-push', 'firefox', 'two-browsers'),
  ...files('own-sdk-video', 'published-sdk', 'sdk-versions-video', 'several-pages', 'softphone'),
  'test/webrtc/*.test.ts',
]

/** Those that ask whether a tone arrives, of carriers alone: two of them leave a machine with two cores idle most of the time, a browser beside them does not. */
const tones = files(
  'codecs',
  'detect',
  'door',
  'handlers-ivr',
  'handlers-rooms',
  'outside-audio',
  'rtp-stream',
  'transfer',
)

/** Whose tests wait for what RFCs and calls take in time: begun first, other files run beside them. */
const waiting = [
  'fuzz',
  'long-timers',
  'placing-forms',
  'handlers-callbacks',
  'registrations',
  'detect',
  'handlers-ivr',
]

class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const found = waiting.indexOf(basename(moduleId, '.test.ts'))
      return found < 0 ? waiting.length : found
    }
    return (await super.sort(specifications)).sort((a, b) => place(a) - place(b))
  }
}

/** How long `expect.poll` waits, also on a machine that is busy with something else: no test waits for that. */
const patient = { expect: { poll: { timeout: 20_000 } } }

const scenario = (name: string) => ({
  name,
  testTimeout: 120_000,
  hookTimeout: 120_000,
  ...patient,
  globalSetup: 'test/support/run-certificate.ts',
})

/**
 * Four projects: `unit` lies beside the code and needs nothing; `scenarios`, `tones` and `audio` place real calls with real peers: two files at once,
 * two at once of those that leave a sound whole, and one.
 */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            '{gateway,sip-agent,handlers,media,config,client,console,realtime,react,scripts}/**/*.test.ts',
          ],
          exclude: ['**/node_modules/**'],
          // Files share the processes: no module keeps anything of its own, and starting a process for each file takes half of the time.
          isolate: false,
          // Many of them wait for sockets: a third keeps two cores busy meanwhile.
          maxWorkers: 3,
          globalSetup: 'gateway/directory/testing/postgres-server.ts',
          // Bounds for a machine that is busy with something else; no test waits for them.
          testTimeout: 30_000,
          hookTimeout: 30_000,
          ...patient,
          setupFiles: 'test/support/patient-waits.ts',
        },
      },
      {
        test: {
          ...scenario('scenarios'),
          include: ['test/**/*.test.ts'],
          exclude: [...tones, ...alone],
          maxWorkers: 2,
        },
      },
      { test: { ...scenario('tones'), include: tones, maxWorkers: 2 } },
      { test: { ...scenario('audio'), include: alone, fileParallelism: false } },
    ],
  },
})
