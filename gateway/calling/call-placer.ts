import type { CallControl, Destination } from '../../handlers/verbs.ts'
import type { Callbacks } from '../callbacks/callback-outbox.ts'
import { newCallId } from '../calls/call/ids.ts'
import type { LiveCalls } from '../calls/call/live-call.ts'
import type { Handle, Originator } from '../calls/connect/origination.ts'
import { isDigits } from '../calls/leg/dtmf.ts'
import { type CallLog, documentOf } from '../calls/log/call-log.ts'
import type { CallHistory, CallRow } from '../calls/log/call-rows.ts'
import type { Clock } from '../core/clock.ts'
import { catalogue, codeOf, TrunklineError } from '../core/errors/catalogue.ts'
import type { Log } from '../core/log.ts'
import type { HandlerSpec, StatusTarget } from '../model.ts'
import { detectAnswerer, detectInBackground } from './answered-by.ts'
import type { CallOrder, CallPlacement } from './call-placement.ts'
import { type CalleeCheck, destinationOf } from './callee-check.ts'
import { findLiveCall } from './find-live-call.ts'
import { recordCall } from './record-call.ts'

/** Collaborators of a {@link CallPlacer}. */
export interface CallPlacerDeps {
  readonly callees: CalleeCheck
  readonly calls: LiveCalls & Originator
  readonly callLog: CallLog
  readonly history: Pick<CallHistory, 'find' | 'settled'>
  readonly callbacks: Callbacks
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
}

/** Makes calls for the API, and controls them by their ids. */
export class CallPlacer implements CallPlacement {
  readonly #deps: CallPlacerDeps

  constructor(deps: CallPlacerDeps) {
    this.#deps = deps
  }

  async place(order: CallOrder): Promise<CallRow> {
    checkFields(order)
    const to = destinationOf(order.to)
    const callee = await this.#deps.callees.check(to, order.projectId)
    const row = callee === 'offline' ? this.#offline(order, to) : await this.#begin(order, to)
    await this.#deps.history.settled()
    return row
  }

  async redirect(
    projectId: string,
    callId: string,
    handler: HandlerSpec,
    status?: StatusTarget,
  ): Promise<CallRow> {
    const { calls, history, callLog } = this.#deps
    const { live, row } = await findLiveCall(calls, history, projectId, callId)
    live.redirect(handler)
    return (status && callLog.watch(callId, status)) ?? row
  }

  async end(projectId: string, callId: string, how: 'canceled' | 'completed'): Promise<CallRow> {
    const { calls, history } = this.#deps
    const { live, row } = await findLiveCall(calls, history, projectId, callId)
    const { state } = live
    if (how === 'canceled' && state === 'answered') throw new TrunklineError('call_not_in_progress')
    live.end(state === 'answered' ? 'normal' : 'canceled')
    await history.settled()
    // The row is read back, because the observer of the call's end writes it, and `end` returns nothing.
    return (await history.find(projectId, callId)) ?? row
  }

  /** Resolves when the first leg was made. Later changes go to the row. */
  #begin(order: CallOrder, to: string): Promise<CallRow> {
    const { calls, callLog, log } = this.#deps
    const { projectId, from, timeoutMs, maxDurationMs, variables, status } = order
    const { promise, resolve, reject } = Promise.withResolvers<CallRow>()
    const originated = calls.originate({
      projectId,
      from,
      steps: [[destination(order, to)]],
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(maxDurationMs !== undefined && { maxDurationMs }),
      ...(variables && { variables }),
      onLeg: ({ callId }) => {
        const row = callLog.change(callId, { document: documentOf(order.handler) })
        if (row) resolve(row)
        if (status) callLog.watch(callId, status)
      },
      run: (call, handle) => this.#run(order, call, handle),
    })
    originated.catch((error: unknown) => {
      const code = codeOf(error)
      log[catalogue[code].level](
        { event: 'call.origination-failed', code, projectId, err: code === 'internal' ? error : undefined },
        'call requested over the API not answered',
      )
      reject(error)
    })
    return promise
  }

  /** Logs a call to an endpoint without a registration, which ends at once. */
  #offline({ projectId, from, status, handler }: CallOrder, to: string): CallRow {
    const { callLog, clock } = this.#deps
    const id = newCallId()
    const createdAt = clock.now()
    const facts = { id, projectId, direction: 'outbound-api', type: 'sip', from, to, createdAt } as const
    const call = { ...facts, document: documentOf(handler) }
    callLog.begin(call)
    if (status) callLog.watch(id, status)
    callLog.end(id, { status: 'no-answer', endedAt: createdAt, code: 'not_online' })
    return { ...call, status: 'queued' }
  }

  async #run(order: CallOrder, call: CallControl, handle: Handle): Promise<void> {
    const { calls, callLog, callbacks, log } = this.#deps
    const { projectId, callId } = call.info
    // Recording and detection last for the whole call, not just for its first document.
    const whole = calls.live(projectId, callId)?.control
    if (order.record && whole) void recordCall(whole, order.record, { callbacks, log })
    const { detect } = order
    if (detect?.background && whole) void detectInBackground(whole, detect, { callLog, callbacks, log })
    const answeredBy = detect && !detect.background ? await detectAnswerer(call, detect) : undefined
    if (answeredBy?.row) callLog.change(callId, { answeredBy: answeredBy.row })
    await handle(order.handler, answeredBy && { answeredBy: answeredBy.answeredBy })
  }
}

const destination = (order: CallOrder, to: string): Destination => {
  const { from, callerId, credentials, sendDigits, codecs } = order
  return {
    to,
    from: callerId ?? from,
    ...(credentials && { username: credentials.username, password: credentials.password }),
    ...(sendDigits !== undefined && { sendDigits }),
    ...(codecs && { codecs }),
  }
}

const checkFields = ({ from, sendDigits }: CallOrder): void => {
  if (from.trim() === '') throw new TrunklineError('bad_request', 'from is empty.', { attribute: 'from' })
  if (sendDigits === undefined || isDigits(sendDigits)) return
  const attribute = 'sendDigits'
  throw new TrunklineError('bad_request', 'The digits must be 0-9 * # A-D w W.', { attribute })
}
