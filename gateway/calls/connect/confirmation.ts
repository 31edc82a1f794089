import type { CallControl, Destination } from '../../../handlers/verbs.ts'
import type { Clock } from '../../core/clock.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import { Call } from '../call/call.ts'
import { infoOf } from '../call/call-info.ts'
import type { QueuedCaller } from '../call-ports.ts'
import type { Leg, LegOwner } from '../leg/leg.ts'
import type { Branch } from './branch.ts'
import { defaultMaxDurationMs } from './connect-deps.ts'

/** What is needed to let somebody decide who answered. */
export interface ConfirmationDeps {
  /** The verbs, over a call whose caller's leg is the callee's. */
  readonly controlOf: (call: Call) => CallControl
  readonly clock: Clock
  readonly log: Log
}

/** Who is asked. */
export interface CalleeConfirmation {
  readonly leg: Leg
  readonly branch: Branch
  readonly projectId: string
  /** Whose the leg is afterwards. */
  readonly owner: LegOwner
  /** Takes note of each leg that is made for who is asked. */
  readonly adopt: (leg: Leg, owner: LegOwner) => void
  /** Default 60 s. */
  readonly timeoutMs?: number | undefined
}

/** Longest confirmation where the options say nothing. */
const maxConfirmationMs = 60_000

/**
 * Runs the destination's `confirm` on a leg that is answered, after its digits were pressed. True when it resolved in time and the callee is
 * still there; otherwise the leg is ended. Never rejects.
 */
export const confirmCallee = async (
  parts: ConfirmationDeps,
  options: CalleeConfirmation,
): Promise<boolean> => {
  const { clock, log } = parts
  const { leg, branch, owner, adopt, projectId, timeoutMs = maxConfirmationMs } = options
  const { callId, destination } = branch
  const { to: called, sendDigits, confirm } = destination
  const info = infoOf({ leg, callId, projectId, headers: [], called })
  const observer = { callAnswered: () => {}, callEnded: () => {}, legAdopted: adopt }
  const call = new Call(info, leg, clock, observer, defaultMaxDurationMs)
  const control = parts.controlOf(call)
  const end = (cause: Cause) => call.end(cause)
  const timer = clock.after(timeoutMs, () => end({ code: 'no_answer' }))
  try {
    if (sendDigits) await call.whileUp(leg.sendDigits(sendDigits))
    await call.whileUp(confirm?.(control) ?? Promise.resolve())
  } catch (error) {
    if (!leg.isEnded) log.info({ reason: String(error), to: leg.to.uri }, 'not confirmed')
    end({ code: 'declined' })
  } finally {
    timer.cancel()
    // A transfer may have led to somebody else meanwhile, who was not called for this.
    if (call.caller !== leg) end({ code: 'normal' })
    // What it was given is over with it: it is on hold no more.
    call.release(owner)
  }
  return !leg.isEnded
}

/** Somebody of a queue who is asked. */
export interface QueuedConfirmation {
  readonly queued: QueuedCaller
  readonly confirm: NonNullable<Destination['confirm']>
  /** Fires when nobody of the queue is wanted any more. */
  readonly signal: AbortSignal
  /** Default 60 s. */
  readonly timeoutMs?: number | undefined
}

/** Runs a `confirm` on a caller who waited in a queue; true when it resolved in time and the caller is still there. Never rejects. */
export const confirmQueuedCaller = async (
  { clock, log }: ConfirmationDeps,
  options: QueuedConfirmation,
): Promise<boolean> => {
  const { queued, confirm, signal, timeoutMs = maxConfirmationMs } = options
  const { call, control, place } = queued
  const over = new AbortController()
  const given = AbortSignal.any([signal, over.signal, queued.over])
  const timer = clock.after(timeoutMs, () => over.abort())
  try {
    await call.whileUp(confirm(control.scoped(given), place), given)
    return true
  } catch (error) {
    log.info({ reason: String(error), queue: place.name }, 'not confirmed')
    return false
  } finally {
    timer.cancel()
    over.abort()
  }
}
