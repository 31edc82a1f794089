import type { CallControl, RecordingStatusTarget } from '../../handlers/verbs.ts'
import type { Callbacks } from '../callbacks/callback-outbox.ts'
import type { CallLog } from '../calls/log/call-log.ts'
import { eventCallback } from '../calls/log/status-callbacks.ts'
import type { Clock } from '../core/clock.ts'
import type { StatusTarget } from '../model.ts'
import { CallOperations } from './operations/call-operations.ts'
import type { CommandedCall } from './operations/command-table.ts'
import { type EndReason, hangupReasons } from './operations/end-reasons.ts'

/** Collaborators of an {@link ApiCall}. */
export interface ApiCallDeps {
  readonly callLog: Pick<CallLog, 'statusTarget'>
  readonly callbacks: Callbacks
  /** Id of this gateway in events. */
  readonly nodeId: string
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Call under control of the API, with its operations. Events go to the call's status URL if that uses the
 * script dialect.
 */
export class ApiCall implements CommandedCall {
  readonly id: string
  readonly nodeId: string
  readonly control: CallControl
  readonly operations = new CallOperations()
  readonly quirks = { reportsSuccessOnly: false }
  /** Resolves when the call has ended and every operation has reported its end. */
  readonly over: Promise<void>
  readonly #deps: ApiCallDeps
  /** Last known status URL. The log forgets it at the end of the call, before the last events. */
  #statusTarget: StatusTarget | undefined

  constructor(deps: ApiCallDeps, control: CallControl) {
    const { callLog, nodeId } = deps
    this.#deps = deps
    this.id = control.info.callId
    this.nodeId = nodeId
    this.#statusTarget = callLog.statusTarget(this.id)
    this.control = control
    const { promise, resolve } = Promise.withResolvers<void>()
    const end = () => void this.operations.stop().then(resolve)
    control.signal.addEventListener('abort', end, { once: true })
    if (control.signal.aborted) end()
    this.over = promise
  }

  sendEvent(type: string, params: Readonly<Record<string, unknown>>, ends?: string): void {
    const { callbacks, clock } = this.#deps
    const { id, nodeId } = this
    const { projectId } = this.control.info
    const target = this.#eventTarget()
    if (!target) return
    const event = eventCallback(target, { id, projectId, nodeId }, { type, at: clock.now(), params })
    callbacks.notify({ projectId, callId: id }, { ...event, ...(ends !== undefined && { ends }) })
  }

  recordingStatus(params: Readonly<Record<string, unknown>>): RecordingStatusTarget | undefined {
    const target = this.#eventTarget()
    return target && { dialect: 'json', url: target.url, method: target.method, params }
  }

  #eventTarget(): StatusTarget | undefined {
    this.#statusTarget = this.#deps.callLog.statusTarget(this.id) ?? this.#statusTarget
    return this.#statusTarget?.dialect === 'json' ? this.#statusTarget : undefined
  }

  async hangup(reason: EndReason): Promise<void> {
    await this.control.hangup(hangupReasons[reason])
  }
}
