import type { Timers } from '../../common/timers.ts'
import type { ExpressionJob, ExpressionReply } from './evaluate.ts'
import { type CpuAccount, JobFailed, JobThreads } from './job-threads.ts'
import { type StartThread, startThread } from './thread.ts'

export type { CpuAccount } from './job-threads.ts'

/** Error of an expression; its message completes the sentence "the expression cannot be evaluated: …". */
export class ExpressionFailed extends Error {}

/**
 * Sandbox for the expressions of all calls' scripts: QuickJS in WebAssembly, in worker threads. The code has
 * access to its variables and the language only, with limited heap, stack and time.
 */
export class Sandbox {
  readonly #threads: JobThreads<ExpressionJob, ExpressionReply>

  constructor(timers: Timers, start: StartThread<ExpressionJob, ExpressionReply> = startThread) {
    this.#threads = new JobThreads('expressions', timers, start)
  }

  /** Number of expressions that are waiting or being evaluated. */
  get pending(): number {
    return this.#threads.pending
  }

  /**
   * Evaluates an expression, which may use the keys of `variables` (`call`, `vars`, `envs`, `params`). The
   * value of a function is undefined. Adds the CPU time to `account`; default an empty one. Rejects with
   * {@link ExpressionFailed}, also if too many other expressions are waiting.
   */
  async evaluate(
    expression: string,
    variables: Readonly<Record<string, unknown>>,
    account: CpuAccount = { usedMs: 0 },
  ): Promise<unknown> {
    const job = { expression, variables: JSON.stringify(variables) }
    const reply = await this.#threads.run(job, account).catch((error: unknown) => {
      throw error instanceof JobFailed ? new ExpressionFailed(error.message) : error
    })
    if ('error' in reply) throw new ExpressionFailed(reply.error)
    return reply.value === undefined ? undefined : JSON.parse(reply.value)
  }

  /** Rejects pending expressions and ends the threads. Idempotent. */
  close(): Promise<void> {
    return this.#threads.close()
  }
}
