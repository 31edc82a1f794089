/** Worker thread of {@link Sandbox}: evaluates one expression at a time. */
import { parentPort } from 'node:worker_threads'
import { type ExpressionJob, openEvaluator } from './evaluate.ts'

const evaluate = await openEvaluator()
// An uncaught error ends the thread, so that a failed sandbox is not reused.
parentPort?.on('message', (job: ExpressionJob) => parentPort?.postMessage(evaluate(job)))
parentPort?.postMessage('ready')
