import type { CallControl } from '../../../handlers/verbs.ts'
import { CallEnded } from '../../../handlers/verbs.ts'
import type { RunAgent } from '../../calling/operations/agent-operation.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import { AppCall } from './app-call.ts'
import type { Application } from './application.ts'
import type { ApplicationRegistry } from './application-registry.ts'
import { deviceOf } from './wire-devices.ts'

/** Collaborators of {@link offerCall}. */
export interface OfferDeps {
  readonly registry: ApplicationRegistry
  readonly log: Log
  readonly metrics: Pick<Metrics, 'applicationOffers'>
  readonly runAgent: RunAgent
}

/** Time in ms in which an application must answer an offer, before the call is offered to the next one. */
const offerMs = 10_000

/**
 * Offers a call to the applications on its topic, one after another. Resolves when the call has ended. Throws
 * `no_application` if no application listens on the topic or takes the call.
 */
export const offerCall = async (deps: OfferDeps, control: CallControl, topic: string): Promise<void> => {
  const { registry, log, metrics, runAgent } = deps
  const { projectId, callId } = control.info
  const tried = new Set<Application>()
  for (;;) {
    if (control.signal.aborted) throw new CallEnded()
    const application = registry.next(projectId, topic, tried)
    if (!application) throw noApplication(topic, tried.size)
    tried.add(application)
    // The caller hears ringing while the call is offered to the first application.
    if (tried.size === 1) void control.ring().catch(() => {})
    const call = new AppCall({ control, application, device: deviceOf(control.info), runAgent })
    const outcome = await call.offer(topic, offerMs)
    metrics.applicationOffers.inc({ outcome })
    log.info(
      {
        event: 'application.call-offered',
        call: callId,
        topic,
        protocol: application.protocol,
        outcome,
      },
      'call offered to an application',
    )
    if (outcome === 'taken' || outcome === 'over') return call.over
    call.withdraw()
  }
}

const noApplication = (topic: string, offered: number): TrunklineError => {
  const detail =
    offered === 0 ? 'No application listens on the topic.' : 'No application on the topic took the call.'
  return new TrunklineError('no_application', detail, { topic, offered })
}
