import type { Destination } from '../../../handlers/verbs.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import { Call } from '../call/call.ts'
import { infoOf } from '../call/call-info.ts'
import type { Leg, LegOwner } from '../leg/leg.ts'
import type { Branch } from './branch.ts'
import { defaultMaxDurationMs, type ForkDialerDeps } from './fork-types.ts'
import type { QueuedCaller } from './queued-callers.ts'

/** Confirmation by a callee that has answered, before the callee is bridged. */
export interface CalleeConfirmation {
  readonly leg: Leg
  readonly branch: Branch
  readonly projectId: string
  readonly log: Log
  /** Owner of the leg after the confirmation. */
  readonly owner: LegOwner
  /** Called for each leg that is created for the callee, with the leg's owner. */
  readonly adopt: (leg: Leg, owner: LegOwner) => void
  /** Maximum duration of the confirmation; default 60 s. */
  readonly timeoutMs?: number | undefined
}

/** Default maximum duration of a confirmation, in ms. */
const defaultConfirmationMs = 60_000

/**
 * Sends the destination's digits to an answered leg, and runs the destination's `confirm` on the leg.
 * Resolves with true if `confirm` resolved in time and the callee has not hung up. Otherwise ends the leg and
 * resolves with false. Never rejects.
 */
export const confirmCallee = async (
  { clock, controlOf }: Pick<ForkDialerDeps, 'clock' | 'controlOf'>,
  options: CalleeConfirmation,
): Promise<boolean> => {
  const { leg, branch, owner, adopt, projectId, log, timeoutMs = defaultConfirmationMs } = options
  const { callId, destination } = branch
  const { to: called, sendDigits, confirm } = destination
  const call = new Call({
    info: infoOf({ leg, callId, projectId, headers: [], called }),
    caller: leg,
    clock,
    log,
    observer: { legAdopted: adopt },
    maxDurationMs: defaultMaxDurationMs,
  })
  const control = controlOf(call)
  const end = (cause: Cause) => call.end(cause)
  const timer = clock.after(timeoutMs, () => end({ code: 'no_answer' }))
  try {
    if (sendDigits) await call.whileUp(leg.sendDigits(sendDigits))
    await call.whileUp(confirm?.(control) ?? Promise.resolve())
  } catch (error) {
    if (!leg.isEnded) {
      const facts = { event: 'call.confirmation-failed', reason: String(error), to: leg.to.uri }
      log.info(facts, 'confirmation by the callee failed')
    }
    end({ code: 'declined' })
  } finally {
    timer.cancel()
    // A transfer may have replaced the callee by a party that this verb did not call.
    if (call.caller !== leg) end({ code: 'normal' })
    // This also ends a hold that `confirm` started.
    call.release(owner)
  }
  return !leg.isEnded
}

/** Confirmation by a caller who was taken from a queue. */
export interface QueuedConfirmation {
  readonly queued: QueuedCaller
  readonly confirm: NonNullable<Destination['confirm']>
  readonly log: Log
  /** Fires when the consumer does not want a caller of the queue any more. */
  readonly signal: AbortSignal
  /** Maximum duration of the confirmation; default 60 s. */
  readonly timeoutMs?: number | undefined
}

/**
 * Runs `confirm` on a caller of a queue. Resolves with true if `confirm` resolved in time and the caller has
 * not hung up. Otherwise resolves with false; the caller is not ended. Never rejects.
 */
export const confirmQueuedCaller = async (
  { clock }: Pick<ForkDialerDeps, 'clock'>,
  options: QueuedConfirmation,
): Promise<boolean> => {
  const { queued, confirm, log, signal, timeoutMs = defaultConfirmationMs } = options
  const { call, control, place } = queued
  const timeout = new AbortController()
  const scope = AbortSignal.any([signal, timeout.signal, queued.over])
  const timer = clock.after(timeoutMs, () => timeout.abort())
  try {
    await call.whileUp(confirm(control.scoped(scope), place), scope)
    return true
  } catch (error) {
    const facts = { event: 'queue.confirmation-failed', reason: String(error), queue: place.name }
    log.info(facts, 'confirmation by a queued caller failed')
    return false
  } finally {
    timer.cancel()
    timeout.abort()
  }
}
