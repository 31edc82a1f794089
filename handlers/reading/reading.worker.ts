/** Worker thread of {@link DocumentReader}: reads one document at a time. */
import { parentPort } from 'node:worker_threads'
import { type ReadingJob, read } from './jobs.ts'

// An uncaught error ends the thread, and a new thread replaces it.
parentPort?.on('message', (job: ReadingJob) => parentPort?.postMessage(read(job)))
parentPort?.postMessage('ready')
