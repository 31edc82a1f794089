/** The thread of {@link DocumentReader}: reads one document after the other. */
import { parentPort } from 'node:worker_threads'
import { type ReadingJob, read } from './jobs.ts'

// An error that is thrown here ends the thread, and a new one takes its place.
parentPort?.on('message', (job: ReadingJob) => parentPort?.postMessage(read(job)))
parentPort?.postMessage('ready')
