/** Parent side of `sip-party.ts`. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Figures, Ready } from './sip-party.ts'

/** Child process that runs `sip-party.ts`. */
export class Party {
  readonly #child: ChildProcess
  readonly ready: Ready

  private constructor(child: ChildProcess, ready: Ready) {
    this.#child = child
    this.ready = ready
  }

  /** Starts the process and waits until it accepts calls. */
  static async start(...args: string[]): Promise<Party> {
    const child = fork(new URL('./sip-party.ts', import.meta.url), args, {
      execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning'],
    })
    const [ready] = (await once(child, 'message')) as [Ready]
    return new Party(child, ready)
  }

  get pid(): number {
    return this.#child.pid ?? -1
  }

  /** Returns its current use of resources. */
  async figures(): Promise<Figures> {
    const answer = once(this.#child, 'message') as Promise<[Figures]>
    this.#child.send('figures')
    return (await answer)[0]
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
  }
}
