/** The parent's side of `sip-party.ts`. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Figures, Ready } from './sip-party.ts'

/** A child process of `sip-party.ts`. */
export class Party {
  readonly #child: ChildProcess
  readonly ready: Ready

  private constructor(child: ChildProcess, ready: Ready) {
    this.#child = child
    this.ready = ready
  }

  /** Starts one and waits until it can take calls. */
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

  /** What it uses at the moment. */
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
