import type { AgentTranscriptEvent, CallControl, Destination } from '../../../handlers/verbs.ts'
import type { RunAgent } from '../../calling/operations/agent-operation.ts'
import { type Fields, Refusal } from '../../calling/operations/command-fields.ts'
import { ok } from '../../calling/operations/command-table.ts'
import { endReasonOf } from '../../calling/operations/end-reasons.ts'
import type { OriginatedLeg, Origination, Originator } from '../../calls/connect/origination.ts'
import type { Clock } from '../../core/clock.ts'
import { catalogue, codeOf } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import { type FixedWindowLimit, FixedWindowLimiter } from '../../core/rates.ts'
import type { Reply } from '../rpc-session.ts'
import { AppCall } from './app-call.ts'
import type { Application } from './application.ts'
import { callState, type WireState } from './call-state-event.ts'
import { LegReporter } from './leg-reporter.ts'
import { transcriptSender } from './transcript-sender.ts'
import { deviceOf, type RequestedDevice, readDevices, type WireDevice } from './wire-devices.ts'

/** Maximum number of concurrent dials of an application. */
const maxDials = 100
/**
 * Rate limit for the devices that a project dials. Dials that fail at once count too, because each costs as
 * much as a successful dial.
 */
export const dialedDevicesLimit: FixedWindowLimit = { attempts: 1_000, windowMs: 10_000 }

/** Collaborators of {@link ApplicationDialer}. */
export interface ApplicationDialerDeps {
  readonly originator: Originator
  readonly runAgent: RunAgent
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
}

/** Runs the dials of applications. */
export class ApplicationDialer {
  readonly #deps: ApplicationDialerDeps
  readonly #devices: FixedWindowLimiter

  constructor(deps: ApplicationDialerDeps) {
    this.#deps = deps
    this.#devices = new FixedWindowLimiter(deps.clock, dialedDevicesLimit)
  }

  /** Returns the reply to `calling.dial`, and starts the dial after the reply is sent. */
  dial(application: Application, params: Fields): Reply {
    const tag = params.needed('tag')
    const steps = readDevices(params)
    const timeoutMs = params.seconds('timeout')
    if (steps.flat().some(({ destination }) => destination.from === undefined))
      throw params.wrong('devices', 'from (from_number) in each', undefined)
    if (application.dials.size >= maxDials)
      throw new Refusal('429', `the application has ${maxDials} dials in progress`)
    if (steps.flat().some(() => this.#devices.take(application.projectId) > 0))
      throw new Refusal('429', `the project dials more than ${dialedDevicesLimit.attempts} devices in 10 s`)
    const dial = new Dial(this.#deps, application, { tag, steps, timeoutMs })
    return { result: ok({ message: 'Dialing', tag }), after: () => void dial.run() }
  }
}

/** Params of `calling.dial`. */
interface DialRequest {
  readonly tag: string
  readonly steps: readonly (readonly RequestedDevice[])[]
  readonly timeoutMs: number | undefined
}

/** One dial. It reports the state of every leg, and then the outcome. */
class Dial {
  readonly #deps: ApplicationDialerDeps
  readonly #application: Application
  readonly #request: DialRequest
  readonly #abort = new AbortController()
  /** Devices of the request, by the destination that is dialled for each. */
  readonly #requested = new Map<Destination, WireDevice>()
  /** Devices of the legs, by call id. */
  readonly #devices = new Map<string, WireDevice>()
  /** Receivers of the transcripts of addresses' agents. */
  readonly #transcripts = new Map<Destination, (event: AgentTranscriptEvent) => void>()
  readonly #legs: LegReporter

  constructor(deps: ApplicationDialerDeps, application: Application, request: DialRequest) {
    this.#deps = deps
    this.#application = application
    this.#request = request
    application.dials.add(this.#abort)
    this.#legs = new LegReporter((leg) =>
      application.emit('calling.call.state', callState(application.nodeId, leg)),
    )
  }

  async run(): Promise<void> {
    const { tag } = this.#request
    this.#sendState({ dial_state: 'dialing' })
    try {
      await this.#deps.originator.originate(this.#origination())
    } catch (error) {
      this.#legs.over()
      const code = codeOf(error)
      this.#deps.log[catalogue[code].level](
        {
          event: 'application.dial-failed',
          protocol: this.#application.protocol,
          tag,
          code,
          ...(code === 'internal' && { err: error }),
        },
        'dial of an application failed',
      )
      this.#sendState({
        dial_state: 'failed',
        reason: endReasonOf(code),
        error: code,
        message: catalogue[code].text,
        source: 'outbound',
      })
    } finally {
      this.#application.dials.delete(this.#abort)
    }
  }

  #origination(): Origination {
    const { steps, timeoutMs } = this.#request
    return {
      projectId: this.#application.projectId,
      steps: steps.map((step) => step.map((device) => this.#watched(device))),
      ...(timeoutMs && { timeoutMs }),
      onLeg: (leg) => this.#watch(leg),
      run: (control) => this.#answered(control),
      signal: this.#abort.signal,
    }
  }

  #watched({ destination, device }: RequestedDevice): Destination {
    const watched: Destination = {
      ...destination,
      onTranscript: (event) => this.#transcripts.get(watched)?.(event),
    }
    this.#requested.set(watched, device)
    return watched
  }

  #watch(leg: OriginatedLeg): void {
    const { callId, destination } = leg
    const device = this.#requested.get(destination)
    if (!device) return
    this.#devices.set(callId, device)
    this.#transcripts.set(destination, transcriptSender(this.#application, { call_id: callId }))
    this.#reportLeg(callId, 'created')
    leg.onState((state) => {
      // The answered call reports these events itself: its answer and, after its operations have ended, its
      // end.
      if (state !== 'answered' && callId !== this.#legs.answered) this.#reportLeg(callId, state)
    })
  }

  /**
   * Sends the state event of the call before the event of the dial, because clients create the call from the
   * state event.
   */
  async #answered(control: CallControl): Promise<void> {
    const { callId } = control.info
    this.#legs.setAnswered(callId)
    const device = this.#devices.get(callId) ?? deviceOf(control.info)
    const { tag } = this.#request
    const { runAgent } = this.#deps
    const call = new AppCall({ control, application: this.#application, device, tag, runAgent })
    call.answered()
    const { nodeId } = this.#application
    const state = callState(nodeId, { callId, state: 'answered', device, tag })
    this.#sendState({ dial_state: 'answered', call: { ...state, dial_winner: true } })
    await call.over
    // The leg to an address can outlive the control of the application.
    this.#transcripts.clear()
    this.#legs.over()
  }

  #reportLeg(callId: string, state: WireState): void {
    const device = this.#devices.get(callId)
    if (!device) return
    this.#legs.report({ callId, state, device, tag: this.#request.tag })
  }

  #sendState(params: Readonly<Record<string, unknown>>): void {
    const { nodeId } = this.#application
    this.#application.emit('calling.call.dial', { node_id: nodeId, tag: this.#request.tag, ...params })
  }
}
