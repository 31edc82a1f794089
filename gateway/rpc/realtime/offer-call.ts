import type { CallControl } from '../../../handlers/verbs.ts'
import { CallEnded } from '../../../handlers/verbs.ts'
import type { Clock } from '../../core/clock.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import { AppCall } from './app-call.ts'
import type { Application } from './application.ts'
import type { ApplicationRegistry } from './application-registry.ts'
import { deviceOf } from './wire-devices.ts'

/** What offering works with. */
export interface OfferDeps {
  readonly registry: ApplicationRegistry
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'applicationOffers'>
  /** How long one application may be silent, in milliseconds. */
  readonly offerMs: number
}

/**
 * Offers a call to whoever listens on its topic, one after the other, and resolves when the call is over.
 * Throws `no_application` when nobody listens, or nobody took it.
 */
export const offerCall = async (deps: OfferDeps, control: CallControl, topic: string): Promise<void> => {
  const { registry, clock, log, metrics, offerMs } = deps
  const { projectId, callId } = control.info
  const tried = new Set<Application>()
  for (;;) {
    if (control.signal.aborted) throw new CallEnded()
    const application = registry.next(projectId, topic, tried)
    if (!application) throw nobody(topic, tried.size)
    tried.add(application)
    // The caller is to hear that somebody is asked.
    if (tried.size === 1) void control.ring().catch(() => {})
    const call = new AppCall({ control, application, device: deviceOf(control.info), clock })
    const outcome = await call.offer(topic, offerMs)
    metrics.applicationOffers.inc({ outcome })
    const facts = { call: callId, topic, protocol: application.protocol, outcome }
    log.info(facts, 'call offered to an application')
    if (outcome === 'taken' || outcome === 'over') return call.over
    call.withdraw()
  }
}

const nobody = (topic: string, offered: number): TrunklineError => {
  const detail = offered === 0 ? 'Nobody listens on its topic.' : 'Nobody who listens on its topic took it.'
  return new TrunklineError('no_application', detail, { topic, offered })
}
