import type { CallControl, RecordingStatusTarget } from '../../handlers/verbs.ts'
import type { Callbacks } from '../calls/call-ports.ts'
import type { CallLog } from '../calls/log/call-log.ts'
import { eventCallback } from '../calls/log/status-callbacks.ts'
import type { Clock } from '../core/clock.ts'
import type { StatusTarget } from '../model.ts'
import { CallOperations } from './operations/call-operations.ts'
import type { CommandedCall } from './operations/command-table.ts'
import { type EndReason, hangupReasons } from './operations/end-reasons.ts'

/** What such a call is made of. */
export interface ApiCallDeps {
  readonly control: CallControl
  readonly callLog: Pick<CallLog, 'statusTarget'>
  readonly callbacks: Callbacks
  /** Of this gateway, as events name it. */
  readonly nodeId: string
  readonly clock: Pick<Clock, 'now'>
}

/** A call as the API drives it: its operations, whose events go where its callLog are told, if that is in the words of scripts. */
export class ApiCall implements CommandedCall {
  readonly id: string
  readonly nodeId: string
  readonly control: CallControl
  readonly operations = new CallOperations()
  readonly quirks = { reportsSuccessOnly: false }
  /** Resolves when the call is over, and every operation has told its end. */
  readonly over: Promise<void>
  readonly #parts: ApiCallDeps
  /** Nobody is said to be told of a call that is over, and what comes last is to be told, too. */
  #watcher: StatusTarget | undefined

  constructor(parts: ApiCallDeps) {
    const { control, callLog, nodeId } = parts
    this.#parts = parts
    this.id = control.info.callId
    this.nodeId = nodeId
    this.#watcher = callLog.statusTarget(this.id)
    this.control = control
    const { promise, resolve } = Promise.withResolvers<void>()
    const end = () => void this.operations.stop().then(resolve)
    control.signal.addEventListener('abort', end, { once: true })
    if (control.signal.aborted) end()
    this.over = promise
  }

  sendEvent(type: string, params: Readonly<Record<string, unknown>>, ends?: string): void {
    const { callbacks, clock } = this.#parts
    const { id, nodeId } = this
    const { projectId } = this.control.info
    const told = this.#toldTo()
    if (!told) return
    const event = eventCallback(told, { id, projectId, nodeId }, { type, at: clock.now(), params })
    callbacks.notify({ projectId, callId: id }, { ...event, ...(ends !== undefined && { ends }) })
  }

  recordingStatus(params: Readonly<Record<string, unknown>>): RecordingStatusTarget | undefined {
    const told = this.#toldTo()
    return told && { dialect: 'json', url: told.url, method: told.method, params }
  }

  #toldTo(): StatusTarget | undefined {
    this.#watcher = this.#parts.callLog.statusTarget(this.id) ?? this.#watcher
    return this.#watcher?.dialect === 'json' ? this.#watcher : undefined
  }

  async hangup(reason: EndReason): Promise<void> {
    await this.control.hangup(hangupReasons[reason])
  }
}
