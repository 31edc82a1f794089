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

/** Collaborators and settings of {@link offerCall}. */
export interface OfferDeps {
  readonly registry: ApplicationRegistry
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'applicationOffers'>
  /** Time limit of one offer, in milliseconds. */
  readonly offerMs: number
}

/**
 * Offers a call to the applications on its topic, one after another. Resolves when the call has ended. Throws
 * `no_application` if no application listens on the topic or takes the call.
 */
export const offerCall = async (deps: OfferDeps, control: CallControl, topic: string): Promise<void> => {
  const { registry, clock, log, metrics, offerMs } = deps
  const { projectId, callId } = control.info
  const tried = new Set<Application>()
  for (;;) {
    if (control.signal.aborted) throw new CallEnded()
    const application = registry.next(projectId, topic, tried)
    if (!application) throw noApplication(topic, tried.size)
    tried.add(application)
    // The caller hears ringing while the first application is asked.
    if (tried.size === 1) void control.ring().catch(() => {})
    const call = new AppCall({ control, application, device: deviceOf(control.info), clock })
    const outcome = await call.offer(topic, offerMs)
    metrics.applicationOffers.inc({ outcome })
    const facts = {
      event: 'application.call-offered',
      call: callId,
      topic,
      protocol: application.protocol,
      outcome,
    }
    log.info(facts, 'call offered to an application')
    if (outcome === 'taken' || outcome === 'over') return call.over
    call.withdraw()
  }
}

const noApplication = (topic: string, offered: number): TrunklineError => {
  const detail =
    offered === 0 ? 'No application listens on the topic.' : 'No application on the topic took the call.'
  return new TrunklineError('no_application', detail, { topic, offered })
}
