import { sipStatusOf } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { CallId } from '../../model.ts'
import type { Call } from '../call/call.ts'
import type { Addition } from '../leg/addition.ts'
import type { Leg, LegOwner } from '../leg/leg.ts'
import type { OutboundRequest } from '../leg/outbound-request.ts'
import type { Branch } from './branch.ts'
import { referralDestination, requestFor } from './destinations.ts'
import { ForkDialer } from './fork-dialer.ts'
import type { ForkDialerDeps, ForkOptions, ForkOwner } from './fork-types.ts'

/** Maximum number of persons that are added to a call. */
const maxAdded = 6

/** Persons who were added to a connected call. */
export class AddedParties implements LegOwner, ForkOwner {
  readonly projectId: string
  readonly callId: CallId
  readonly log: Log
  readonly #deps: ForkDialerDeps
  readonly #call: Call
  readonly #options: ForkOptions
  readonly #onChange: () => void
  #legs: readonly Leg[] = []
  #fork: ForkDialer | undefined
  #addition: Addition | undefined
  /** Party that adds a person at the moment. */
  #inviter: Leg | undefined

  /** `onChange`: called when a person was added, has left, or holds or resumes. */
  constructor(deps: ForkDialerDeps, call: Call, options: ForkOptions, onChange: () => void) {
    this.projectId = call.info.projectId
    this.callId = call.id
    this.log = call.log
    this.#deps = deps
    this.#call = call
    this.#options = options
    this.#onChange = onChange
  }

  /** Answered legs of the persons. */
  get legs(): readonly Leg[] {
    return this.#legs
  }

  /** Whether a person is being called. */
  get isCalling(): boolean {
    return this.#fork !== undefined
  }

  /** Calls a person for the leg `by`. Returns false if another one is being called, or at the limit. */
  add(by: Leg, addition: Addition): boolean {
    if (this.#fork || this.#legs.length >= maxAdded) return false
    this.#fork = new ForkDialer(this.#deps, this, this.#options)
    this.#addition = addition
    this.#inviter = by
    void this.#run(this.#fork, by, addition)
    return true
  }

  /** Removes a leg from the persons, and returns it. Its next owner is the caller of this function. */
  take(): Leg | undefined {
    const [first, ...others] = this.#legs
    this.#legs = others
    return first
  }

  /** Cancels the call to a person, and ends the legs of all persons. */
  close(): void {
    this.#fork?.stop()
    for (const leg of this.#legs) leg.end({ code: 'normal' })
  }

  /** Returns the request to a person, in the name of the party that adds the person. */
  request(branch: Branch): OutboundRequest {
    const request = requestFor(branch, this.#call)
    const inviter = this.#inviter
    if (!inviter) return request
    if (inviter.direction === 'inbound') return { ...request, inviter, from: inviter.from }
    if (inviter === this.#call.caller) return { ...request, inviter }
    // A callee knows the caller by the name that the document gave. It may hide the caller's own.
    return { ...request, inviter, callerName: inviter.from }
  }

  adopt(leg: Leg, fork: LegOwner): void {
    this.#call.adopt(leg, fork)
  }

  early(): void {
    this.#addition?.progress(180)
  }

  legHeld(): void {
    this.#onChange()
  }

  legEnded(leg: Leg): void {
    if (!this.#legs.includes(leg)) return
    this.#legs = this.#legs.filter((other) => other !== leg)
    this.#onChange()
  }

  async #run(fork: ForkDialer, by: Leg, addition: Addition): Promise<void> {
    let status = 487
    let added: Leg | undefined
    try {
      const winner = await this.#call.whileUp(fork.run([[referralDestination(addition, by)]]))
      added = winner?.queued ? undefined : winner?.leg
      winner?.queued?.release()
      status = added ? 200 : sipStatusOf(fork.failure?.cause ?? { code: 'canceled' })
    } catch {
      // The call has ended. Its legs end with it.
    } finally {
      this.#fork = this.#addition = this.#inviter = undefined
      addition.progress(status)
      const over = () => addition.over?.()
      if (added) added.whenGone(over)
      else over()
    }
    if (!added || added.isEnded) return
    added.own(this)
    this.#legs = [...this.#legs, added]
    addition.joined?.(added)
    this.#onChange()
  }
}
