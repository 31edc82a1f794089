import { apiVersion, formRequest } from '../../handlers/common/forms.ts'
import { type CallControl, CallEnded, type CallInfo, type DetectResult } from '../../handlers/verbs.ts'
import type { Callbacks } from '../calls/call-ports.ts'
import type { CallLog } from '../calls/log/call-log.ts'
import type { CallRow } from '../calls/log/call-rows.ts'
import type { Log } from '../core/log.ts'
import type { CallOrder } from './call-placement.ts'

/** Who answered, as documents are told, and as the call's row has it where it is known. */
export interface AnsweredBy {
  readonly told: NonNullable<CallInfo['answeredBy']>
  readonly row?: NonNullable<CallRow['answeredBy']>
  /** Time that it took to find out. */
  readonly durationMs: number
}

type Detecting = NonNullable<CallOrder['detect']>

/** Listens to who answered, and for the end of a machine's greeting where that is wanted. */
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
  if (result.kind === 'human') return { told: 'human', row: 'human' }
  if (result.kind !== 'machine') return { told: 'unknown' }
  return { told: waitForMessageEnd ? endedBy(result) : 'machine_start', row: 'machine' }
}

const endedBy = ({ beep }: Pick<DetectResult, 'beep'>): AnsweredBy['told'] =>
  beep ? 'machine_end_beep' : 'machine_end_silence'

/** What listening beside a document works with. */
export interface BackgroundDetectionDeps {
  readonly callLog: Pick<CallLog, 'change'>
  readonly callbacks: Callbacks
  readonly log: Pick<Log, 'warn'>
}

/** Listens beside the document, and tells what came of it. Never rejects: a call that cannot be listened to goes on, and so does its end. */
export const detectInBackground = async (
  call: CallControl,
  order: Detecting,
  { callLog, callbacks, log }: BackgroundDetectionDeps,
): Promise<void> => {
  const { projectId, callId } = call.info
  try {
    const { told, row, durationMs } = await detectAnswerer(call, order)
    if (row) callLog.change(callId, { answeredBy: row })
    const target = order.beside?.told
    if (!target) return
    const fields = {
      AccountSid: projectId,
      ApiVersion: apiVersion,
      CallSid: callId,
      AnsweredBy: told,
      MachineDetectionDuration: String(durationMs),
    }
    callbacks.notify({ projectId, callId }, { kind: 'detect', ...formRequest(target, fields) })
  } catch (error) {
    if (!(error instanceof CallEnded))
      log.warn({ call: callId, reason: String(error) }, 'a call is not listened to')
  }
}
