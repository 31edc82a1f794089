/** The thread of {@link Sandbox}: evaluates one expression after the other. */
import { parentPort } from 'node:worker_threads'
import { type ExpressionJob, openEvaluator } from './evaluate.ts'

const evaluate = await openEvaluator()
// Whatever is thrown here ends the thread: a sandbox that failed by itself is not used again.
parentPort?.on('message', (job: ExpressionJob) => parentPort?.postMessage(evaluate(job)))
parentPort?.postMessage('ready')
