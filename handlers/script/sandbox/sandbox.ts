import type { ExpressionJob, ExpressionReply } from './evaluate.ts'
import { type CpuAccount, JobFailed, JobThreads, type Timers } from './job-threads.ts'
import { type StartThread, startThread } from './thread.ts'

export type { CpuAccount, Timers } from './job-threads.ts'

/** An expression that has no value; the message completes the sentence "the expression cannot be evaluated: …". */
export class ExpressionFailed extends Error {}

/**
 * Evaluates expressions of script documents in threads of its own, by QuickJS in WebAssembly: the code sees its variables and the language,
 * nothing else, and has a heap, a stack and a time of its own. Shared by all calls.
 */
export class Sandbox {
  readonly #threads: JobThreads<ExpressionJob, ExpressionReply>

  constructor(timers: Timers, start: StartThread<ExpressionJob, ExpressionReply> = startThread) {
    this.#threads = new JobThreads('expressions', timers, start)
  }

  /** Expressions that wait or are evaluated. */
  get pending(): number {
    return this.#threads.pending
  }

  /**
   * The value of an expression, which may name the keys of `variables` (`call`, `vars`, `envs`, `params`). Undefined and functions are
   * undefined. The time it takes is added to `account`; default an empty one. Rejects with {@link ExpressionFailed}, also when too many wait
   * that have used less.
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

  /** Rejects what is under way and ends the threads. Idempotent. */
  close(): Promise<void> {
    return this.#threads.close()
  }
}
