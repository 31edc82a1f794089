import { type Code, TrunklineError } from '../../core/errors/catalogue.ts'
import type { LiveCall } from '../call/live-call.ts'
import type { BranchEntry } from '../log/call-log.ts'

/** Branch that rings for a call, or that a call is connected to. No handler controls it. */
export class CalledLeg implements LiveCall {
  readonly #entry: BranchEntry

  constructor(entry: BranchEntry) {
    this.#entry = entry
  }

  get state(): 'ringing' | 'answered' {
    return this.#entry.isAnswered ? 'answered' : 'ringing'
  }

  redirect(): void {
    throw new TrunklineError('call_not_in_progress')
  }

  end(code: Code): void {
    this.#entry.branch.end({ code })
  }
}
