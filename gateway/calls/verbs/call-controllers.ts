import type { SteadyClock } from '../../core/clock.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Call } from '../call/call.ts'
import type { ForkDialerDeps } from '../connect/fork-types.ts'
import type { LegDialer } from '../connect/leg-dialer.ts'
import type { CallLog } from '../log/call-log.ts'
import { CallController } from './call-controller.ts'
import type { CallControllerDeps, Speech, VerbServices } from './call-controller-deps.ts'
import { VerbMeter } from './verb-meter.ts'

/** Collaborators of {@link CallControllers}. */
export interface CallControllersDeps {
  readonly services: VerbServices
  readonly dialer: LegDialer
  readonly callLog: Pick<CallLog, 'called'>
  readonly metrics: Pick<Metrics, 'verbs'>
  readonly clock: SteadyClock
}

/** Settings of verbs. A reload changes the settings of later calls. */
export interface VerbSettings {
  readonly speech: Speech
  /** Default ring time in ms. */
  readonly ringMs: number
}

/** Makes the verbs of calls. */
export class CallControllers {
  readonly #deps: CallControllersDeps
  readonly #meter: VerbMeter
  #controller: CallControllerDeps

  constructor(deps: CallControllersDeps, settings: VerbSettings) {
    this.#deps = deps
    this.#meter = new VerbMeter(deps.metrics)
    this.#controller = this.#controllerDeps(settings)
  }

  /** Changes the settings of later calls. */
  change(settings: VerbSettings): void {
    this.#controller = this.#controllerDeps(settings)
  }

  /** Number of verbs in progress. */
  get pending(): number {
    return this.#meter.pending
  }

  /** Collaborators of a fork that dials for a call without a caller. */
  get fork(): ForkDialerDeps {
    return this.#controller.fork
  }

  /** Returns the verbs of a call. */
  of(call: Call): CallController {
    return new CallController(this.#controller, call)
  }

  #controllerDeps({ speech, ringMs }: VerbSettings): CallControllerDeps {
    const { services, dialer, callLog, clock } = this.#deps
    const { queues: queuedCallers } = services
    const controlOf = (call: Call) => new CallController(deps, call)
    const fork = { dialer, ...(queuedCallers && { queuedCallers }), controlOf, callLog, clock, ringMs }
    const deps: CallControllerDeps = { services, speech, fork, meter: this.#meter, clock }
    return deps
  }
}
