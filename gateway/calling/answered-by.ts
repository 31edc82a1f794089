import { apiVersion, formRequest } from '../../handlers/common/forms.ts'
import { type CallControl, CallEnded, type CallInfo, type DetectResult } from '../../handlers/verbs.ts'
import type { Callbacks } from '../callbacks/callback-outbox.ts'
import type { CallLog } from '../calls/log/call-log.ts'
import type { CallRow } from '../calls/log/call-rows.ts'
import type { Log } from '../core/log.ts'
import type { CallOrder } from './call-placement.ts'

/** Result of answering-machine detection, in the forms for documents and for the call's row. */
export interface AnsweredBy {
  readonly answeredBy: NonNullable<CallInfo['answeredBy']>
  readonly row?: NonNullable<CallRow['answeredBy']>
  /** Duration of the detection in ms. */
  readonly durationMs: number
}

type Detecting = NonNullable<CallOrder['detect']>

/** Detects the answerer, and the end of a machine's greeting if required. */
export const detectAnswerer = async (
  call: CallControl,
  { waitForMessageEnd, timeoutMs, thresholds }: Detecting,
): Promise<AnsweredBy> => {
  const machine = { waitForEnd: waitForMessageEnd, ...thresholds }
  const { durationMs, ...result } = await call.detect({ machine, timeoutMs })
  return { ...answererOf(result, waitForMessageEnd), durationMs }
}

const answererOf = (
  result: Omit<DetectResult, 'durationMs'>,
  waitForMessageEnd: boolean,
): Omit<AnsweredBy, 'durationMs'> => {
  if (result.kind === 'human') return { answeredBy: 'human', row: 'human' }
  if (result.kind !== 'machine') return { answeredBy: 'unknown' }
  return { answeredBy: waitForMessageEnd ? endedBy(result) : 'machine_start', row: 'machine' }
}

const endedBy = ({ beep }: Pick<DetectResult, 'beep'>): AnsweredBy['answeredBy'] =>
  beep ? 'machine_end_beep' : 'machine_end_silence'

/** Collaborators of {@link detectInBackground}. */
export interface BackgroundDetectionDeps {
  readonly callLog: Pick<CallLog, 'change'>
  readonly callbacks: Callbacks
  readonly log: Pick<Log, 'warn'>
}

/**
 * Detects the answerer beside the document, and reports the result. Never rejects: a call without detection
 * goes on.
 */
export const detectInBackground = async (
  call: CallControl,
  order: Detecting,
  { callLog, callbacks, log }: BackgroundDetectionDeps,
): Promise<void> => {
  const { projectId, callId } = call.info
  try {
    const { answeredBy, row, durationMs } = await detectAnswerer(call, order)
    if (row) callLog.change(callId, { answeredBy: row })
    const target = order.background?.callback
    if (!target) return
    const fields = {
      AccountSid: projectId,
      ApiVersion: apiVersion,
      CallSid: callId,
      AnsweredBy: answeredBy,
      MachineDetectionDuration: String(durationMs),
    }
    callbacks.notify({ projectId, callId }, { kind: 'detect', ...formRequest(target, fields) })
  } catch (error) {
    if (!(error instanceof CallEnded))
      log.warn(
        { event: 'call.detection-failed', call: callId, reason: String(error) },
        'answering-machine detection failed',
      )
  }
}
