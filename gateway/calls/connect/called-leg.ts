import { type Code, TrunklineError } from '../../core/errors/catalogue.ts'
import type { LiveCall } from '../call-ports.ts'
import type { Called } from '../log/call-log.ts'

/** A leg that rings for a call of ours, or that another call is connected to. It has no document of its own. */
export class CalledLeg implements LiveCall {
  readonly #called: Called

  constructor(called: Called) {
    this.#called = called
  }

  get state(): 'ringing' | 'answered' {
    return this.#called.answered ? 'answered' : 'ringing'
  }

  redirect(): void {
    throw new TrunklineError('call_not_in_progress')
  }

  end(code: Code): void {
    this.#called.branch.end({ code })
  }
}
