import { relative } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { readSchedule } from './scripts/check/schedule.ts'

const { alone, tones, first } = readSchedule(import.meta.dirname)

/** Starts the files with `@schedule first` before the others. */
class FirstFilesFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number =>
      first.includes(relative(import.meta.dirname, moduleId)) ? 0 : 1
    return (await super.sort(specifications)).sort((a, b) => rank(a) - rank(b))
  }
}

/** Longest wait of `expect.poll`, for a machine that is busy with other work. */
const patient = { expect: { poll: { timeout: 20_000 } } }

const scenario = (name: string) => ({
  name,
  testTimeout: 120_000,
  hookTimeout: 120_000,
  ...patient,
  globalSetup: 'test/support/run-certificate.ts',
})

/** Tests of the scenarios' own helpers. */
const helpers = 'test/support/**/*.test.ts'

/**
 * Projects. `unit` needs no other program. The others place calls with real peers.
 * `scenarios` run three files at a time, `tones` two, `audio` one. A file's `@schedule` decides its project.
 * Files of several projects run one project after another, because their numbers of workers differ.
 */
export default defineConfig({
  test: {
    sequence: { sequencer: FirstFilesFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            '{gateway,sip-agent,handlers,media,config,client,console,realtime,react,scripts}/**/*.test.ts',
            helpers,
          ],
          exclude: ['**/node_modules/**'],
          // No module keeps state, so files share a process: a start for each file takes half of the time.
          isolate: false,
          // Many of them wait for sockets: a third keeps two cores busy meanwhile.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
          globalSetup: 'gateway/directory/testing/postgres-server.ts',
          // Limits for a machine that is busy with other work; no test waits for them.
          testTimeout: 30_000,
          hookTimeout: 30_000,
          ...patient,
          setupFiles: ['test/support/patient-waits.ts', 'test/support/property-seed.ts'],
        },
      },
      {
        test: {
          ...scenario('scenarios'),
          include: ['test/**/*.test.ts'],
          exclude: [helpers, ...tones, ...alone],
          // Many of them wait for timers and other programs: a third keeps two cores busy meanwhile.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      { test: { ...scenario('tones'), include: [...tones], maxWorkers: 2, sequence: { groupOrder: 2 } } },
      {
        test: {
          ...scenario('audio'),
          include: [...alone],
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
