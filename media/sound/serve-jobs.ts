import { parentPort } from 'node:worker_threads'
import type { JobReply, Samples } from './job-thread.ts'

/** Answers each message to this thread, a job, with its result. */
export const serveJobs = <Job>(work: (job: Job) => Promise<Samples>): void => {
  parentPort?.on('message', async (job: Job) => {
    let reply: JobReply
    try {
      reply = { samples: await work(job) }
    } catch (error) {
      reply = { error: error instanceof Error ? error.message : String(error) }
    }
    parentPort?.postMessage(reply)
  })
}
