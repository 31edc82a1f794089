/** Worker thread of {@link SileroThread}: runs the model for the sounds of all calls, one after another. */
import { createRequire } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import type { SileroData, SileroJob, SileroReply } from './silero-messages.ts'
import { type ModelRuntime, SileroModel, type SileroSound } from './silero-model.ts'

const { runtime, model } = workerData as SileroData

const send = (reply: SileroReply): void => parentPort?.postMessage(reply)

const load = async (): Promise<SileroModel | undefined> => {
  try {
    // A copy, because runtimes do not take shared memory.
    return await SileroModel.load(createRequire(runtime)(runtime) as ModelRuntime, new Uint8Array(model))
  } catch (error) {
    send({ op: 'broken', reason: error instanceof Error ? error.message : String(error) })
    return undefined
  }
}

const serve = (silero: SileroModel): void => {
  const sounds = new Map<number, { readonly number: number; readonly sound: SileroSound }>()
  const run = async (job: SileroJob): Promise<void> => {
    const { stream } = job
    if (job.op === 'close') {
      sounds.delete(stream)
      return
    }
    let open = sounds.get(stream)
    if (open?.number !== job.sound) open = { number: job.sound, sound: silero.open() }
    sounds.set(stream, open)
    send({ op: 'heard', stream, sound: job.sound, probabilities: await open.sound.hear(job.samples) })
  }
  // An error ends the thread, because nothing handles the rejection.
  let work = Promise.resolve()
  parentPort?.on('message', (job: SileroJob) => {
    work = work.then(() => run(job))
  })
  send({ op: 'ready' })
}

const loaded = await load()
if (loaded) serve(loaded)
